"use strict";
// A click on a heading sorts its table: numbers by value, words by alphabet; again turns the order round.
function sortBy(header) {
  const row = header.parentNode, table = row.closest("table"), body = table.tBodies[0];
  const place = Array.prototype.indexOf.call(row.cells, header);
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of row.cells) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (line) => {
    const cell = line.cells[place];
    return cell.dataset.v === undefined ? cell.textContent.trim() : parseFloat(cell.dataset.v);
  };
  const lines = Array.from(body.rows);
  lines.sort((a, b) => {
    const x = key(a), y = key(b);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return down ? -order : order;
  });
  for (const line of lines) body.appendChild(line);
}
for (const button of document.querySelectorAll("table.sortable th button"))
  button.addEventListener("click", () => sortBy(button.parentNode));
// A link from a number to its games opens the list it leads to.
function openTarget() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (target && target.tagName === "DETAILS") target.open = true;
}
window.addEventListener("hashchange", openTarget);
openTarget();
