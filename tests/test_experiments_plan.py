"""From words to matchups: identities, kinds, grids, configurations, and what is refused."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

import conf
from experiments.command import experiment
from experiments.config import compose_config, options, settings_of, spec_of
from experiments.matchup import least_rotation, period
from experiments.plan import Plan, make_plan
from ttr import adapter
from ttr.board import map_names
from ttr.board_data import board_data, board_from

ROOT = Path(__file__).parent.parent
HEURISTICS = "random greedy base random_smart random_base villain hoarder hoarder_ticket pile pile_ticket_hater".split()


def plan_of(name: str, *overrides: str) -> Plan:
    return make_plan(spec_of(compose_config(name, list(overrides))))


def test_every_configuration_composes_and_plans():
    for scale in options("scale"):
        for name in ("round_robin", "sweep", "final_eval", "free_for_all", *(f"study/{study}" for study in options("study"))):
            config = compose_config(name, [f"scale={scale}"] + (["+sweep=posas"] if name == "sweep" else []))
            settings_of(config)
            plan = make_plan(spec_of(config))
            assert plan.matchups and plan.games > 0
    for sweep in options("sweep"):
        assert plan_of("sweep", f"+sweep={sweep}").matchups
    for cluster in options("cluster"):
        assert settings_of(compose_config("round_robin", [f"cluster={cluster}"])).cluster.kind == cluster
    assert set(options("map")) == set(map_names())
    for name in options("map"):
        assert compose_config("round_robin", [f"map={name}"]).map.name == name


def test_the_published_experiments_have_their_published_size():
    expected = {"round_robin": (55, 100_000), "cp": (140, 500), "posas": (220, 500), "momentum": (220, 500), "final": (80, 500)}
    for name, size in (expected | {"swap": (3, 500), "target": (10, 500)}).items():
        plan = plan_of(f"study/warwick_{name}", "scale=paper")
        assert (len(plan.matchups), plan.spec.deals) == size, name
        searching = [s["identity"] for m in plan.matchups for s in m.seats if "iterations" in s["identity"]]
        assert all(identity["iterations"] == 30_000 for identity in searching) and bool(searching) == (name != "round_robin")
    games = plan_of("study/warwick_round_robin", "scale=paper").games
    assert games == 45 * 200_000 + 10 * 100_000


def test_a_study_is_the_same_run_as_its_command():
    assert plan_of("study/warwick_cp").identity == plan_of("sweep", "+sweep=cp").identity
    assert plan_of("study/warwick_round_robin").identity == plan_of("round_robin").identity


def test_the_order_of_seats_and_of_agents_does_not_matter():
    one, two = plan_of("round_robin", "agents=[base,greedy]"), plan_of("round_robin", "agents=[greedy,base]")
    assert one.identity == two.identity and {m.id for m in one.matchups} == {m.id for m in two.matchups}
    assert sorted(m.rotations for m in one.matchups) == [1, 1, 2]


def test_identity_is_kind_matchups_and_seed_alone():
    base = plan_of("round_robin", "agents=[base,greedy]").identity
    for same in (
        ["deals=7"],
        ["results_dir=x"],
        ["part=1/2"],
        ["moves=true"],
        ["on_error=forfeit"],
        ["cluster=serial"],
        ["name=x"],
    ):
        assert plan_of("round_robin", "agents=[base,greedy]", *same).identity == base
    for other in (["seed=7"], ["kind=run"], ["rules.cars=9"], ["map=mini"], ["self_play=false"], ["agents=[base,random]"]):
        assert plan_of("round_robin", "agents=[base,greedy]", *other).identity != base


@pytest.mark.parametrize(
    ("seats", "wanted"), [("abab", 2), ("aaaa", 1), ("abc", 3), ("aab", 3), ("ab", 2), ("aa", 1), ("abcab", 5), ("aabaab", 3)]
)
def test_distinct_rotations(seats, wanted):
    assert period(seats) == wanted == len({seats[r:] + seats[:r] for r in range(len(seats))})


def test_the_least_rotation_is_the_least_of_all():
    for seats in ("bca", "cab", "baba", "bbab", "a"):
        r = least_rotation(seats)
        assert seats[r:] + seats[:r] == min(seats[i:] + seats[:i] for i in range(len(seats)))


def test_any_field_can_be_swept_several_at_once():
    words = ["agents=[cmcts]", "opponents=[base,random]", "sweep.grid.agent.cp=[1,2.5]", "sweep.grid.rules.cars=10,12"]
    plan = plan_of("sweep", *words, "sweep.grid.map.hand=range(3,5)", "sweep.grid.opponent.first_tickets=[all]")
    assert len(plan.matchups) == 2 * 2 * 2 * 2
    seen = {tuple(m.labels["sweep"].items()) for m in plan.matchups}
    assert (("agent.cp", 2.5), ("rules.cars", 12), ("map.hand", 4), ("opponent.first_tickets", "all")) in seen
    for m in plan.matchups:
        role = m.labels["role"]
        agent, opponent = m.seats[role["agent"]]["identity"], m.seats[role["opponent"]]["identity"]
        assert agent["agent"] == "cmcts" and agent["cp"] == m.labels["sweep"]["agent.cp"]
        assert opponent["first_tickets"] == "all" and m.setup["rules"]["cars"] == m.labels["sweep"]["rules.cars"]
        assert m.setup["rules"]["hand"] == m.labels["sweep"]["map.hand"]
    assert len(plan_of("sweep", "agents=[base]", "opponents=[greedy]", "sweep.grid.map=[yang,mini]").matchups) == 2
    assert len(plan_of("sweep", "+sweep=posas", "sweep.grid.agent.posas_threshold=[0,5]").matchups) == 4 * 2 * 5


def test_more_than_two_players():
    plan = plan_of("free_for_all", "agents=[base,greedy,random,villain]", "players=3")
    assert len(plan.matchups) == 4 and all(m.rotations == 3 for m in plan.matchups)
    assert len(plan_of("free_for_all", "agents=[base,greedy,random,villain]", "seating=all").matchups) == 6
    assert len(plan_of("free_for_all", "agents=[base,greedy]", "players=3", "self_play=true").matchups) == 4
    against = plan_of("sweep", "agents=[base]", "opponents=[random]", "players=4", "map=usa", "rules=official")
    assert [s["text"] for s in against.matchups[0].seats].count("random") == 3
    tables = plan_of("run", "tables=[[base,greedy],[base,random,greedy]]", "map=usa", "rules=official")
    assert sorted(len(m.seats) for m in tables.matchups) == [2, 3]


def test_iterations_of_the_scale_are_for_agents_that_say_nothing_themselves():
    plan = plan_of("run", "agents=[cmcts,cmcts:iterations=77,ismcts:forward_model_calls=5,iterations=0]", "opponents=[base]")
    searching = [m.seats[m.labels["role"]["agent"]]["identity"] for m in plan.matchups]
    assert [(s["iterations"], s["forward_model_calls"]) for s in searching] == [(500, 0), (77, 0), (0, 5)]


def test_a_board_survives_as_data():
    for name in map_names():
        board = adapter.load_board(name)
        assert board_from(board_data(board)) == board


def test_a_users_file_lies_between_defaults_and_command_line(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "agents: [base, 'swap:first=random,second=base,round=3']\nopponents: [greedy]\ndeals: 9\nrules: official\n"
        "map: mini\ngrid:\n  rules.cars: [9, 10]\n  agent: {}\n"
    )
    config = compose_config("run", ["deals=4"], str(file))
    spec = spec_of(config)
    assert (spec.deals, spec.map, spec.rules) == (4, {"name": "mini"}, {"preset": "official"})
    assert spec.agents[1] == "swap:first=random,second=base,round=3"
    assert len(make_plan(spec).matchups) == 4


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_the_worked_examples_play(path, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    words = ["cluster=serial", "display=none", "deals=1", f"results_dir={tmp_path}"]
    assert experiment("run", [str(path), *words], takes_file=True) == 0


WRONG = [
    (["agents=[bose,greedy]"], "unknown agent 'bose'", "base"),
    (["map=yank"], "unknown map 'yank'", "yang"),
    (
        ["map=no/such/folder"],
        "no such map folder",
    ),
    (["rules=oficial"], "oficial", "official"),
    (["rules.carz=3"], "carz", "cars"),
    (
        ["rules.cars=many"],
        "cars=many",
    ),
    (
        ["deals=-5"],
        "deals=-5",
    ),
    (
        ["deals=0"],
        "deals=0",
    ),
    (
        ["deals=many"],
        "deals=many",
    ),
    (
        ["seed=-1"],
        "seed=-1",
    ),
    (["dealz=5"], "dealz", "deals"),
    (["scale=papr"], "papr", "paper"),
    (["cluster=lokal"], "lokal", "local"),
    (
        ["sweep.grid.agent.cpp=[1,2]"],
        "cpp",
    ),
    (["sweep.grid.rules.carz=[1,2]"], "carz", "cars"),
    (["sweep.grid.agnt.cp=[1,2]"], "agnt", "agent.cp"),
    (
        ["sweep.grid.agent.cp=3"],
        "must be a list",
    ),
    (["agents=[cmcts:seconds=1,iterations=0,base]"], "seconds", "iterations=N"),
    (
        ["agents=[base:colour_cost=-1,greedy]"],
        "colour_cost",
    ),
    (
        ["part=5/4"],
        "part=5/4",
    ),
    (
        ["batch=0"],
        "batch=0",
    ),
    (
        ["cluster.workers=0"],
        "workers",
    ),
    (
        ["on_error=ignore"],
        "on_error",
    ),
    (
        ["players=7"],
        "players=7",
    ),
    (
        ["agents=[]"],
        "nothing to play",
    ),
    (
        ["--fast"],
        "--fast",
    ),
    (
        ["deals=[1"],
        "deals",
    ),
    (["+sweep=posax"], "posax", "posas"),
    (["agents=[base"], "agents=[base"),
    (["agents=[{name: base}]"], "{agent: name"),
    (["dry_run=maybe"], "dry_run=maybe", "true or false"),
    (["moves=2"], "moves=2", "true or false"),
    (["self_play=maybe"], "self_play=maybe", "true or false"),
    (["iterations=many"], "iterations=many"),
    (["stop_at=true"], "stop_at=True"),
    (["rules.cars=inf"], "inf", "finite"),
    (["sweep.grid.rules.cars=[nan]"], "nan", "finite"),
    (["sweep.grid.players=[a]"], "players=a"),
    (["sweep.grid.map=[1]"], "'1'", "yang"),
    (["kind=../elsewhere"], "kind=../elsewhere"),
    (["=3"], "'=3'"),
    (["scale=null"], "scale=null", "smoke"),
    (["+deal=3"], "deal", "deals"),
    (["+cluster.worker=3"], "cluster.worker", "workers"),
    (["~deals"], "deals", "left out"),
    (["~cluster"], "cluster", "left out"),
    (["deals=1,2"], "deals=1,2", "sweep.grid"),
    (["--cfg", "job", "--package", "rulez"], "rulez", "rules"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[0][0])
def test_wrong_input_is_one_clear_line(case, tmp_path, capsys):
    words, *fragments = case
    assert experiment("round_robin", ["cluster=serial", "agents=[base,greedy]", f"results_dir={tmp_path / 'r'}", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err
    for fragment in fragments:
        assert fragment in captured.err
    assert not (tmp_path / "r").exists()


def test_a_results_folder_must_be_named(capsys):
    for word in ("results_dir=", "results_dir=null"):
        assert experiment("round_robin", ["cluster=serial", "agents=[base,greedy]", word]) == 2
        assert "results_dir=: " in capsys.readouterr().err


def test_keys_that_hydra_takes_away_can_be_taken_away():
    plan = plan_of("sweep", "+sweep=posas", "~sweep.grid.agent.posas_threshold", "sweep.grid.agent.cp=[1]")
    assert list(plan.grid) == ["agent.cp"]


def test_wrong_files_and_studies_are_one_clear_line(tmp_path, capsys):
    (tmp_path / "bad.yaml").write_text("agentz: [base]\n")
    (tmp_path / "worse.yaml").write_text("agents: [base\n")
    (tmp_path / "grid.yaml").write_text("agents: [base]\ngrid: 5\n")
    (tmp_path / "date.yaml").write_text("agents: [base]\ndeals: 2001-01-01\n")
    for words in ([str(tmp_path / f"{name}.yaml")] for name in ("none", "bad", "worse", "grid", "date")):
        assert experiment("run", words, takes_file=True) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for words in ([], ["study=warwick_finale"], ["study="], ["study=../base"]):
        assert experiment("reproduce", words, takes_study=True) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "warwick_final" in error


def test_help_and_configuration_are_printed(capsys):
    with pytest.raises(SystemExit) as end:
        experiment("sweep", ["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "dry_run=true" in text and "posas" in text and "map: europe" in text
    assert experiment("sweep", ["+sweep=cp", "--cfg", "job", "deals=3", "rules.cars=9"]) == 0
    config = OmegaConf.create(capsys.readouterr().out)
    assert config.deals == 3 and config.sweep.grid.agent.cp[0] == 0.5 and config.rules.cars == 9


def test_configurations_are_shipped_with_the_package():
    folder = Path(conf.__file__).parent
    assert (folder / "base.yaml").exists() and (folder / "study" / "warwick_final.yaml").exists()
