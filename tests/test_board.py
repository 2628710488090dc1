"""Maps: the ones of the project are complete, and a damaged one is refused in one line with file, row and reason."""

import re
import shutil
from pathlib import Path

import pytest

from ttr.board import BOARDS, GREY, Box, MapError, load_board, map_names, variant_names
from ttr.map_settings import NUMBERS
from ttr.rules import RANGES, RulesError, resolve_rules

SIZES = {  # cities, routes, connections, tickets, spaces
    "europe": (47, 101, 90, 46, 300),
    "first_journey": (19, 39, 39, 17, 84),
    "first_journey:box": (19, 64, 39, 32, 133),
    "first_journey:doubles": (19, 64, 39, 17, 133),
    "germany": (40, 110, 85, 89, 313),
    "mini": (4, 3, 3, 12, 12),
    "new_york": (15, 30, 30, 18, 62),
    "new_york:doubles": (15, 41, 30, 18, 84),
    "usa": (36, 100, 78, 30, 309),
    "usa:length3": (36, 100, 78, 30, 300),
    "usa_1910": (36, 100, 78, 35, 309),
    "usa_1910:1910": (36, 100, 78, 35, 309),
    "usa_1910:bigcities": (36, 100, 78, 35, 309),
    "usa_1910:classic": (36, 100, 78, 30, 309),
    "usa_1910:mega": (36, 100, 78, 69, 309),
    "yang": (8, 16, 16, 8, 31),
    "yang:shortest": (8, 16, 16, 8, 31),
}


def every_name():
    return [full for name in map_names() for full in [name, *(f"{name}:{v}" for v in variant_names(name))]]


def test_the_sizes_cover_every_map_and_variant():
    assert sorted(SIZES) == sorted(every_name())


@pytest.mark.parametrize("name", sorted(SIZES))
def test_every_map_and_variant_has_its_known_size(name):
    board = load_board(name)
    groups = {route.group for route in board.routes}
    spaces = sum(route.length for route in board.routes)
    assert (len(board.cities), len(board.routes), len(groups), len(board.tickets), spaces) == SIZES[name]
    assert board.name == name
    assert groups == set(range(len(groups)))
    assert len(board.box.points) == 8 and board.box.points[:6] == (1, 2, 4, 7, 10, 15)
    hash(board)  # frozen through and through


def test_the_base_game_is_as_printed():
    board = load_board("usa")
    assert board.box == Box(
        cars=45, hand=4, cards_per_colour=12, locomotives=14, face_up=5,
        tickets_dealt=3, tickets_kept=2, tickets_drawn=3, tickets_kept_later=1,
        end_cars=2, longest_bonus=10, most_tickets_bonus=0, points=(1, 2, 4, 7, 10, 15, 18, 21),
    )  # fmt: skip
    assert board.colours == ("black", "white", "red", "orange", "yellow", "green", "blue", "pink")
    assert sum(route.colour == GREY for route in board.routes) == 44
    per_colour = [sum(route.colour == colour for route in board.routes) for colour in range(8)]
    assert per_colour == [7] * 8


def deal_and_bonuses(name):
    box = load_board(name).box
    dealt = (box.tickets_dealt, box.tickets_kept, box.tickets_drawn, box.tickets_kept_later)
    return dealt, box.longest_bonus, box.most_tickets_bonus


def test_the_1910_games_have_their_own_deals_and_bonuses():
    assert deal_and_bonuses("usa_1910") == ((3, 2, 3, 1), 0, 15)
    assert deal_and_bonuses("usa_1910:1910") == ((3, 2, 3, 1), 0, 15)
    assert deal_and_bonuses("usa_1910:classic") == ((3, 2, 3, 1), 10, 0)
    assert deal_and_bonuses("usa_1910:mega") == ((5, 3, 4, 1), 10, 15)
    assert deal_and_bonuses("usa_1910:bigcities") == ((4, 2, 4, 1), 0, 0)


def test_reprinted_tickets_are_those_of_2004_with_four_lowered():
    def deck(name):
        board = load_board(name)
        return {frozenset((board.cities[t.a].name, board.cities[t.b].name)): t.points for t in board.tickets}

    old, new = deck("usa"), deck("usa_1910:classic")
    assert old.keys() == new.keys()
    assert sorted(old[pair] - new[pair] for pair in old if old[pair] != new[pair]) == [1, 1, 1, 2]


@pytest.mark.parametrize("name, far, near", [("europe", 6, 40), ("germany", 34, 55), ("first_journey", 5, 12)])
def test_far_and_near_tickets_are_tagged(name, far, near):
    tickets = load_board(name).tickets
    assert sum("long" in ticket.tags for ticket in tickets) == far
    assert sum("short" in ticket.tags for ticket in tickets) == near
    assert not any({"long", "short"} <= ticket.tags for ticket in tickets)


def test_tags_are_split():
    assert {tag for ticket in load_board("first_journey").tickets for tag in ticket.tags} == {
        "long",
        "short",
        "ours",
        "thesis",
    }


def test_countries_around_germany_are_terminals():
    board = load_board("germany")
    names = {board.cities[city].name for city in board.terminals}
    assert names == {"Danemark", "Frankreich", "Niederlande", "Osterreich", "Schweiz"}
    sizes = [sum(route.group == group for route in board.routes) for group in range(85)]
    assert sizes.count(3) == 2 and max(sizes) == 3


def test_all_routes_of_length_three():
    assert {route.length for route in load_board("usa:length3").routes} == {3}


@pytest.fixture
def folder(tmp_path):
    """A copy of the map germany, which has terminals, parallel routes of every kind and no variants."""
    return Path(shutil.copytree(BOARDS / "germany", tmp_path / "mine"))


def edit(folder, file, *changes):
    path = folder / file
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, f"{file} does not hold {old!r}"
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


def append(folder, file, *lines):
    with open(folder / file, "a", encoding="utf-8") as out:
        out.write("".join(line + "\n" for line in lines))


def refusal(folder, variant=""):
    with pytest.raises(MapError) as caught:
        load_board(f"{folder}{variant}")
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_folder_loads_and_names_work_as_well_as_ids(folder):
    edit(
        folder,
        "routes.csv",
        ("0,0,25,2,grey,0", "0,Munchen,Augsburg,2,grey,0"),
        ("1,0,25,", "1,Augsburg,Munchen,"),
    )
    mine, original = load_board(str(folder)), load_board("germany")
    assert {mine.routes[0].a, mine.routes[0].b} == {original.routes[0].a, original.routes[0].b}
    assert mine.routes[1:] == original.routes[1:]
    assert mine.name == str(folder)


def test_left_out_numbers_are_those_of_the_base_game(folder):
    edit(folder, "map.yaml", ("drawn: 4, kept_later: 1", ""), ("kept: 2, }", "kept: 2}"), ("face_up: 5\n", ""))
    edit(folder, "map.yaml", ("end_cars: 2\n", ""), ("points: [1, 2, 4, 7, 10, 15, 18, 21]\n", ""))
    box = load_board(str(folder)).box
    assert (box.tickets_drawn, box.tickets_kept_later, box.face_up, box.end_cars) == (3, 1, 5, 2)
    assert box.points == (1, 2, 4, 7, 10, 15, 18, 21)


def test_variants_of_a_folder_and_half_points(folder):
    append(folder, "map.yaml", "variants:", "  far: {tickets_tag: long, tickets: {dealt: 3}, cars: 30}",
           "  linear: {points: [4.5, 9, 13.5, 18, 22.5, 27, 31.5, 36]}")  # fmt: skip
    far = load_board(f"{folder}:far")
    assert len(far.tickets) == 34
    assert (far.box.cars, far.box.tickets_dealt, far.box.tickets_drawn) == (30, 3, 4)
    assert load_board(f"{folder}:linear").box.points[0] == 4.5
    assert "unknown variant 'fat' (did you mean far?)" in refusal(folder, ":fat")


MAP_YAML = [  # what is damaged, the key whose line is named (None: the first line), the reason
    (("cars: 45", "cars: 61"), "cars", "cars is 61, allowed are 1 to 60"),
    (("cars: 45", "cars: many"), "cars", "cars is not a whole number: 'many'"),
    (("cars: 45", "cars: 4.5"), "cars", "cars is not a whole number: '4.5'"),
    (("cars: 45", "cars: .inf"), "cars", "cars is not a whole number: 'inf'"),
    (("cars: 45", "cars: yes"), "cars", "cars is not a whole number: 'True'"),
    (("cars: 45", "karts: 45"), "karts", "unknown key 'karts' (did you mean cars?)"),
    (("cars: 45\n", ""), None, "missing key 'cars'"),
    (("title: Ticket to Ride, Germany (2017)\n", ""), None, "missing key 'title'"),
    (
        ("locomotives: 14", "locomotivs: 14"),
        "locomotivs",
        "unknown key 'locomotivs' (did you mean locomotives?)",
    ),
    (("hand: 4", "cars: 4"), "cars: 4\n", "key 'cars' stands twice"),
    (("locomotives: 14", "locomotives: 32"), "locomotives", "locomotives is 32, allowed are 0 to 31"),
    (
        ("cards_per_colour: 12", "cards_per_colour: 15"),
        "cards_per_colour",
        "134 train cards in all, at most 126",
    ),
    (("orange, yellow", "orange, grey"), "colours", "'grey' is not a colour of cards"),
    (("orange, yellow", "orange, red"), "colours", "colour 'red' stands twice"),
    (("blue, pink", "blue, pink, brown"), "colours", "9 colours, at most 8 are allowed"),
    (("kept: 2", "kept: 5"), "tickets", "tickets.kept is larger than tickets.dealt"),
    (("dealt: 4", "dealed: 4"), "tickets", "unknown key 'tickets.dealed' (did you mean tickets.dealt"),
    (
        ("tickets: {dealt: 4, kept: 2, drawn: 4, kept_later: 1}", "tickets: 4"),
        "tickets",
        "tickets needs keys below it",
    ),
    (("dealt: 4", "dealt: 6"), "tickets", "tickets.dealt is 6, allowed are 1 to 5"),
    (("[1, 2, 4, 7,", "[1, 2, 4,"), "points", "points needs 8 numbers"),
    (("[1, 2, 4, 7,", "[1, 2, 4, x,"), "points", "points are whole or half numbers from 0 to 99, not 'x'"),
    (("Danemark,", "Denmark,"), "terminals", "unknown city 'Denmark' (did you mean Danemark?)"),
    (("hand: 4", "hand: [4"), "cards_per_colour", "not YAML"),
    (
        ("cars: 45", "routes: nowhere.csv\ncars: 45"),
        "routes",
        "there is no file 'nowhere.csv' in this folder",
    ),
    (("cars: 45", "tickets_tag: fast\ncars: 45"), "tickets.csv", "no tickets with the tag 'fast'"),
]


@pytest.mark.parametrize("change, key, reason", MAP_YAML, ids=[reason for _, _, reason in MAP_YAML])
def test_a_bad_map_yaml_is_refused(folder, change, key, reason):
    edit(folder, "map.yaml", change)
    lines = (folder / "map.yaml").read_text(encoding="utf-8").splitlines()
    file, row = "map.yaml", 1
    if key == "tickets.csv":
        file = key
    elif key and key.endswith("\n"):  # the whole line is given
        row = lines.index(key.strip()) + 1
    elif key:
        row = next(number for number, line in enumerate(lines, 1) if line.startswith(key + ":"))
    assert refusal(folder).startswith(f"mine/{file}, row {row}: {reason}")


ROWS = [  # file, line to damage (from 1), what the line becomes, the reason
    ("cities.csv", 1, "id,town,x,y", "missing column 'name'; the columns are id, town, x, y"),
    ("cities.csv", 3, "1,Berlin,here,328", "x is not a number: 'here'"),
    ("cities.csv", 3, "1,Berlin,746,nan", "y is not a number: 'nan'"),
    ("cities.csv", 3, "1,Augsburg,746,328", "city 'Augsburg' stands twice"),
    ("cities.csv", 3, "1,,746,328", "a city needs a name that is not a number"),
    ("cities.csv", 3, f"1,{'B' * 200_000},746,328", "200010 characters in one row"),
    ("cities.csv", 3, "1,Berlin,746", "3 fields, but the header has 4"),
    ("cities.csv", 3, "7,Berlin,746,328", "id is '7', but ids count 0, 1, 2, ... and this one is 1"),
    ("routes.csv", 1, "id,city_a,city_b,length,color,group", "missing column 'colour'"),
    ("routes.csv", 2, "0,Augsbug,25,2,grey,0", "unknown city 'Augsbug' (did you mean Augsburg?)"),
    ("routes.csv", 2, "0,0,40,2,grey,0", "unknown city '40'"),
    ("routes.csv", 2, "0,0,-1,2,grey,0", "unknown city '-1'"),
    ("routes.csv", 2, "0,0,0,2,grey,0", "the route leads from Augsburg to itself"),
    ("routes.csv", 2, "0,0,25,two,grey,0", "length is not a whole number: 'two'"),
    ("routes.csv", 2, "0,0,25,0,grey,0", "length is 0, allowed are 1 to 8"),
    ("routes.csv", 2, "0,0,25,9,grey,0", "length is 9, allowed are 1 to 8"),
    ("routes.csv", 2, "0,0,25,2,gray,0", "unknown colour 'gray' (did you mean grey"),
    ("routes.csv", 2, "0,0,25,2,grey,x", "group is not a whole number: 'x'"),
    ("routes.csv", 3, "1,0,25,3,grey,0", "group 0 mixes the lengths 2 and 3"),
    ("routes.csv", 3, "1,0,27,2,grey,0", "group 0 mixes Augsburg - Munchen and Augsburg - Nurnberg"),
    ("routes.csv", 3, "1,0,25,2,grey,999", "duplicate route Augsburg - Munchen grey"),
    ("routes.csv", 3, "1,0,25,2,red,999", "Augsburg - Munchen is in two groups; parallel routes share one"),
    ("routes.csv", 3, "1,Schweiz,Osterreich,2,red,999", "Schweiz - Osterreich joins two terminals"),
    ("tickets.csv", 1, "id,city_a,city_b,value,tags", "missing column 'points'"),
    ("tickets.csv", 2, "0,0,Atlantis,12,long", "unknown city 'Atlantis'"),
    ("tickets.csv", 2, "0,6,6,12,long", "the ticket leads from Dresden to itself"),
    ("tickets.csv", 2, "0,0,6,much,long", "points is not a whole number: 'much'"),
    ("tickets.csv", 2, "0,0,6,-3,long", "points is -3, allowed are 1 to 99"),
]


@pytest.mark.parametrize("file, line, text, reason", ROWS, ids=[f"{row[0]} {row[3]}" for row in ROWS])
def test_a_bad_row_is_refused(folder, file, line, text, reason):
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    lines[line - 1] = text
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert refusal(folder).startswith(f"mine/{file}, row {line}: {reason}")


def test_a_coloured_route_twice_is_refused(folder):
    lines = (folder / "routes.csv").read_text().splitlines()
    red = next(line.split(",") for line in lines if ",red," in line)
    append(folder, "routes.csv", ",".join([str(len(lines) - 1), *red[1:]]))
    assert refusal(folder).startswith(f"mine/routes.csv, row {len(lines) + 1}: duplicate route")


def test_four_parallel_routes_are_refused(folder):
    append(folder, "routes.csv", "110,0,25,2,grey,0", "111,0,25,2,red,0")
    assert refusal(folder) == "mine/routes.csv, row 113: more than 3 parallel routes Augsburg - Munchen"


def test_a_city_without_routes_is_refused(folder):
    append(folder, "cities.csv", "40,Helgoland,100,100")
    reason = "the map is not connected: no routes lead from Augsburg to Helgoland"
    assert refusal(folder) == f"mine/cities.csv, row 42: {reason}"


def test_a_ticket_through_a_terminal_is_refused(folder):
    append(folder, "cities.csv", "40,Salzburg,700,950")
    append(folder, "routes.csv", "110,Salzburg,Osterreich,1,grey,85")
    append(folder, "tickets.csv", "89,Salzburg,Osterreich,1,short", "90,Berlin,Salzburg,20,long")
    reason = "no path for the ticket Berlin - Salzburg without passing through a terminal"
    assert refusal(folder) == f"mine/tickets.csv, row 92: {reason}"


def test_too_many_of_anything_is_refused(folder):
    append(folder, "tickets.csv", *(f"{n},0,6,12,long" for n in range(89, 97)))
    assert refusal(folder) == "mine/tickets.csv, row 98: more than 96 tickets"
    append(folder, "cities.csv", *(f"{n},Town {n},{n},0" for n in range(40, 65)))
    assert refusal(folder) == "mine/cities.csv, row 66: more than 64 cities"
    shutil.copy(BOARDS / "germany/cities.csv", folder)
    with_room = [(a, b) for a in range(20) for b in range(20, 35)]
    lines = ["id,city_a,city_b,length,colour,group"]
    lines += [f"{n},{a},{b},1,grey,{n}" for n, (a, b) in enumerate(with_room[:129])]
    (folder / "routes.csv").write_text("\n".join(lines) + "\n")
    assert refusal(folder) == "mine/routes.csv, row 130: more than 128 routes"


@pytest.mark.parametrize("file", ["map.yaml", "cities.csv", "routes.csv", "tickets.csv"])
def test_a_missing_or_unreadable_file_is_refused(folder, file):
    (folder / file).write_bytes(b"\xff\xfe\x00\x00")
    assert refusal(folder) == f"mine/{file}, row 1: not a text file in UTF-8"
    (folder / file).write_bytes(b"")
    assert refusal(folder).startswith(f"mine/{file}, row 1: ")
    (folder / file).unlink()
    assert refusal(folder).startswith(f"mine/{file}, row 1: there is no such file")


def test_blank_lines_and_a_byte_order_mark_do_no_harm(folder):
    text = (folder / "routes.csv").read_text().replace("\n", "\r\n\r\n")
    (folder / "routes.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_board(str(folder)).routes == load_board("germany").routes


def test_an_unknown_map_is_answered_with_near_ones_and_the_list():
    text = refusal("usaa")
    assert text.startswith("unknown map 'usaa' (did you mean usa?); the maps are europe, first_journey,")
    assert refusal("no/such/folder") == "no such map folder: no/such/folder"
    assert re.match(r"usa/map.yaml, row \d+: unknown variant 'lenght3' \(did you mean length3\?\)", refusal("usa:lenght3"))
    assert "unknown variant ''" in refusal("yang:")
    assert "it has none" in refusal("mini:x")


def test_more_tickets_dealt_than_there_are(folder):
    tickets = (folder / "tickets.csv").read_text(encoding="utf-8").splitlines()
    (folder / "tickets.csv").write_text("\n".join(tickets[:4]) + "\n", encoding="utf-8")
    assert "tickets.dealt is 4, but the map has 3 tickets" in refusal(folder)


def test_a_map_that_passes_the_check_can_be_played():
    """No number of a map's box may be larger than the rules allow, or `check` would praise what nobody can play."""
    for key, (low, high) in NUMBERS.items():
        field = key.replace(".", "_")
        if field in RANGES:
            assert RANGES[field][0] <= low and high <= RANGES[field][1], key
    assert {"locomotives", "hand", "face_up", "tickets_dealt"} <= {key.replace(".", "_") for key in NUMBERS} & set(RANGES)


def test_more_tickets_kept_than_drawn_are_refused():
    with pytest.raises(RulesError, match="4 of 1 drawn tickets cannot be kept"):
        resolve_rules(load_board("yang"), "warwick", 2, {"tickets_drawn": 1, "tickets_kept_later": 4})
