"""The one command behind all experiments: words of the command line in, a finished run and its folder out."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from experiments.config import compose_config, near_miss, options, settings_of, spec_of
from experiments.plan import Plan, make_plan
from experiments.reading import slice_deals
from experiments.refusal import Refusal

GROUPS = ("map", "rules", "agent", "sweep", "scale", "cluster", "study", "game")
SETTINGS = """\
settings (any may be given, in any order):
  deals=N             deals of every matchup; each is played in every rotation of the seats
  seed=N              another seed, another run
  scale=NAME          smoke, laptop (default), paper: number of deals and iterations
  cluster=NAME        local (default), ray (cluster.address=HOST:PORT), serial; cluster.workers=N
  map=NAME|FOLDER     rules=PRESET     rules.FIELD=VALUE     map.FIELD=VALUE
  agents=[a,b]        opponents=[c,d]  players=N             iterations=N
  sweep.grid.agent.FIELD=[...]         also opponent.FIELD, rules.FIELD, map, map.FIELD, players; several at once
  dry_run=true        the plan: matchups, games, what is there already, time, interval widths, files
  part=k/n            only every n-th deal; `python -m experiments.merge RUN` joins the slices
  results_dir=PATH    decisions=true   moves=true   fresh=true   force=true   on_error=stop|forfeit
The same command continues a run that was stopped; more deals extend it."""


def experiment(name: str, argv: Sequence[str] | None, takes_file: bool = False, takes_study: bool = False) -> int:
    """Run the experiment conf/NAME.yaml with the words of a command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    arguments, overrides = _parser(name, takes_file).parse_known_args(words)
    try:
        unknown = [word for word in overrides if word.startswith("-")]
        if unknown:
            raise Refusal(f"unknown option {unknown[0]}; settings are written as name=value, see --help")
        config_name = f"study/{_study(overrides)}" if takes_study else name
        config = compose_config(config_name, overrides, arguments.file if takes_file else None)
        if arguments.cfg:
            shown = OmegaConf.select(config, arguments.package) if arguments.package else config
            if not OmegaConf.is_config(shown):
                raise Refusal(
                    f"--package {arguments.package}: this is no part of the configuration{_parts(config, arguments.package)}"
                )
            print(OmegaConf.to_yaml(shown), end="")
            return 0
        return _run(config)
    except Refusal as refusal:
        print(f"{_program(name)}: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _read_no_more()
        print("stopped, because nobody reads the output any more; the same command continues", file=sys.stderr)
        return 1


def _run(config: Any) -> int:
    settings, plan = settings_of(config), make_plan(spec_of(config))
    data: Any = OmegaConf.to_container(config, resolve=True)
    if settings.dry_run:
        from experiments.dry_run import show_plan

        show_plan(plan, settings)
        return 0
    from experiments.driver import drive  # scipy and rich, which --help and a dry run of nothing do not need

    if settings.display != "none":
        name = f"{plan.spec.kind}{f' {plan.spec.name}' if plan.spec.name else ''}"
        print(f"{name}: {_games(plan, settings.part)}, seed {plan.spec.seed}", flush=True)
    result = drive(plan, data, settings)
    try:
        print(result.message)
        if result.exit_code == 0 and not settings.part:
            print(f"figures: python -m analysis.report {result.folder}")
        elif result.exit_code == 0:
            print(f"when all slices are there: python -m experiments.merge {result.folder.parent.parent}")
        print(result.folder, flush=True)
    except BrokenPipeError:
        _read_no_more()
        print(f"nobody reads the output any more; {result.message}", file=sys.stderr)
    return result.exit_code


def _games(plan: Plan, part: str | None) -> str:
    """How many games there are, of a slice those of the whole run too."""
    deals, rotations = plan.spec.deals, sum(matchup.rotations for matchup in plan.matchups)
    if not part:
        return f"{plan.games:,} games ({len(plan.matchups):,} matchups x {deals:,} deals, every rotation)"
    own = len(slice_deals(deals, part))
    matchups = f"{len(plan.matchups):,} matchups x {own:,} of {deals:,} deals, every rotation"
    return f"slice {part}, {own * rotations:,} of {plan.games:,} games ({matchups})"


def _parts(config: Any, asked: str) -> str:
    return near_miss(asked, [str(key) for key in config if OmegaConf.is_config(config[key])])


def _program(name: str) -> str:
    return f"experiments.{name}"


def _parser(name: str, takes_file: bool) -> argparse.ArgumentParser:
    groups = "\n".join(f"  {group}: {', '.join(options(group))}" for group in GROUPS)
    usage = f"python -m {_program(name)} {'FILE.yaml ' if takes_file else ''}[--cfg job] [name=value ...]"
    parser = argparse.ArgumentParser(
        prog=f"python -m {_program(name)}",
        usage=usage,
        description=sys.modules[f"experiments.{name}"].__doc__ if f"experiments.{name}" in sys.modules else _docstring(),
        epilog=f"{SETTINGS}\n\nconfiguration groups:\n{groups}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if takes_file:
        parser.add_argument("file", metavar="FILE.yaml", help="your experiment; see docs/experiments.md")
    parser.add_argument("--cfg", "-c", choices=["job"], help="print the configuration and stop")
    parser.add_argument("--package", "-p", help="with --cfg: only this part of it")
    return parser


def _docstring() -> str:
    return sys.modules["__main__"].__doc__ or ""


def _study(overrides: list[str]) -> str:
    """The study that is asked for, taken out of the overrides."""
    for word in overrides:
        if word.lstrip("+").startswith("study="):
            overrides.remove(word)
            return word.partition("=")[2]
    raise Refusal(f"name a published table: study=NAME; there are: {', '.join(options('study'))}")


def answering(program: str, work: Callable[[], int]) -> int:
    """Run a command that looks at runs: what it refuses is one line, and a closed pipe is no error."""
    try:
        code = work()
        sys.stdout.flush()
        return code
    except Refusal as refusal:
        print(f"{program}: {refusal}", file=sys.stderr)
        return refusal.exit_code
    except BrokenPipeError:
        _read_no_more()
        return 0
    except KeyboardInterrupt:
        return 130


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """What cannot be written is refused in one line that names it."""
    try:
        yield
    except OSError as error:
        raise Refusal(f"{error.filename or path} cannot be written: {error.strerror or error}") from None


def _read_no_more() -> None:
    """Nobody reads what is printed: from now on nothing is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def reader(program: str, description: str | None) -> argparse.ArgumentParser:
    """The command line of a command that looks at runs."""
    return argparse.ArgumentParser(
        prog=f"python -m experiments.{program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
