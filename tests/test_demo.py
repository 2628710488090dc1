"""The first result a newcomer sees can be read on 80 characters."""

from ttr.demo import SHOWN, main


def test_the_demo_fits_80_characters(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    main()
    text = capsys.readouterr().out
    table = [line for line in text.splitlines() if line.strip().startswith(tuple(name for name, *_ in SHOWN))]
    assert "…" not in text and len(table) == len(SHOWN) and max(map(len, table)) <= 80
    for line, (name, preset, players, games) in zip(table, SHOWN):
        assert line.split()[:4] == [name, preset, str(players), f"{games:,}"]
