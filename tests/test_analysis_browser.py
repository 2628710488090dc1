"""The report page in a real browser: no error, no request, text for every figure, tables that sort, and a printout."""

# ruff: noqa: F401, F811  (fixtures are imported)

import html
import json
import re
import shutil
import subprocess

import pytest

from analysis import report
from tests.stored_runs import results, robin

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: apt-get install chromium)")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--disable-domain-reliability --no-first-run --no-default-browser-check --disable-dev-shm-usage"
).split()
PROBE = """
<script>
addEventListener("load", () => {
const found = { errors: window.probeErrors, images: [], sorted: [] };
for (const image of document.images) found.images.push([image.alt.length, image.complete && image.naturalWidth > 0]);
for (const table of document.querySelectorAll("table.sortable")) {
  const first_row = Array.from(table.tBodies[0].rows[0].cells);
  const numeric = first_row.findIndex((cell) => cell.dataset.v !== undefined);
  if (numeric < 0) continue;
  const header = table.tHead.rows[0].cells[numeric];
  const values = () => Array.from(table.tBodies[0].rows, (r) => parseFloat(r.cells[numeric].dataset.v)).filter((v) => !isNaN(v));
  const rises = (list) => list.every((v, i) => i === 0 || list[i - 1] <= v);
  header.querySelector("button").click();
  const up = rises(values()), first = header.getAttribute("aria-sort");
  header.querySelector("button").click();
  const down = rises(values().reverse()), second = header.getAttribute("aria-sort");
  found.sorted.push([up, down, first, second, values().length]);
}
found.boxes = [];
for (const all of document.querySelectorAll("details")) all.open = true;
for (const box of document.querySelectorAll(".scroll")) {
  if (box.scrollWidth <= box.clientWidth) continue;
  box.scrollLeft = box.scrollWidth;
  const cell = box.querySelector("tbody td");
  found.boxes.push([box.tabIndex, box.scrollLeft > 0, cell.getBoundingClientRect().left - box.getBoundingClientRect().left]);
}
found.sideways = document.documentElement.scrollWidth > innerWidth;
const link = document.querySelector("td a[href^='#games-']");
link.click();
found.opened = document.getElementById(link.getAttribute("href").slice(1)) !== null;
found.requests = performance.getEntriesByType("resource").map((e) => e.name).filter((name) => !name.startsWith("data:"));
const box = document.createElement("pre");
box.id = "probe";
box.textContent = JSON.stringify(found);
document.body.appendChild(box);
});
</script>
"""
WATCH = """<script>
window.probeErrors = [];
addEventListener("error", (e) => probeErrors.push(String(e.message)), true);
addEventListener("securitypolicyviolation", (e) => probeErrors.push("blocked " + e.blockedURI));
</script>"""


def chromium(folder, *arguments: str) -> subprocess.CompletedProcess:
    """Run the browser once with a profile of its own."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def page(robin, tmp_path_factory):
    """The report of a small round-robin."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert report.main([str(robin), "-o", str(path)]) == 0
    return path


def probed(page, extra: str = "") -> dict:
    """What the page looks like from inside the browser, `extra` put into its body."""
    watched = page.with_name("watched.html")
    text = page.read_text().replace("<head>", "<head>" + WATCH, 1).replace("</body>", extra + PROBE + "</body>", 1)
    watched.write_text(text)
    done = chromium(page.parent, "--virtual-time-budget=8000", "--dump-dom", watched.as_uri())
    probe = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    assert probe, done.stderr[-500:]
    return json.loads(html.unescape(probe[1]))


def test_page_opens_without_errors_or_requests_and_its_tables_sort(page):
    found = probed(page)
    assert found["errors"] == [] and found["requests"] == [] and found["opened"]
    assert len(found["images"]) >= 6 and all(length > 20 and drawn for length, drawn in found["images"])
    assert len(found["sorted"]) >= 8
    for up, down, first, second, rows in found["sorted"]:
        assert up and down and first == "ascending" and second == "descending" and rows > 0


def test_a_wide_table_scrolls_in_its_own_box_beside_its_first_column(page):
    found = probed(page)
    assert found["boxes"] and not found["sideways"]
    for focus, moved, first_cell in found["boxes"]:
        assert focus == 0 and moved and abs(first_cell) < 1


def test_a_page_that_asks_the_network_or_fails_would_be_noticed(page):
    found = probed(page, '<img src="http://127.0.0.1:9/x.png" alt=""><script>nothing.there;</script>')
    assert any("blocked" in error for error in found["errors"]) and any("nothing" in error for error in found["errors"])


def test_page_prints(page):
    pdf = page.with_suffix(".pdf")
    done = chromium(page.parent, f"--print-to-pdf={pdf}", "--no-pdf-header-footer", page.as_uri())
    assert pdf.exists(), done.stderr[-500:]
    data = pdf.read_bytes()
    assert data.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", data)) >= 3
