"""How a job is queued: every value checked before SLURM sees it, each mistake told in one line.

Values come from conf/slurm/default.yaml, then from a file (slurm=FILE.yaml, or a name in conf/slurm), then from the command line.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

CONF = Path(__file__).parent.parent / "conf" / "slurm"
TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
LONGEST_TMP = 20  # a socket's path has 107 bytes at most, of which a job's room takes up to 21 and Ray up to 64
WORD = re.compile(r"[^\s'\"`;|<>\\]+")


class SlurmError(ValueError):
    """A job that cannot be queued, followed or cancelled; the message is one line."""


@dataclass(frozen=True)
class Settings:
    """One job's settings, in the order of conf/slurm/default.yaml."""

    nodes: int
    cpus: int | None
    mem: str | None
    time: str
    partition: str | None
    account: str | None
    qos: str | None
    constraint: str | None
    mail: str | None
    mail_events: str
    directives: tuple[str, ...]
    setup: tuple[str, ...]
    python: str | None
    tmp: str
    cache: str | None
    ports: str
    interface: str | None
    startup: int
    reserve: int
    requeues: int
    array: bool


NAMES = [field.name for field in fields(Settings)]
NUMBERS = {  # name: least, most
    "nodes": (1, 10_000),
    "cpus": (1, 4096),
    "startup": (10, 86_400),
    "reserve": (1, 86_400),
    "requeues": (0, 1_000_000),
}
LISTS = ("directives", "setup")
MUST = ("nodes", "time", "tmp", "ports", "startup", "reserve", "requeues", "array", "mail_events")
FREE_TEXT = ("python",)  # a command with arguments


def load_settings(base: str | None = None, changes: Mapping[str, str] | None = None) -> Settings:
    """The settings of a job: the defaults, a file's values over them, single values over those."""
    values = _read(CONF / "default.yaml")
    if base:
        values |= _read(_file_of(base))
    for name, text in (changes or {}).items():
        _known(name, "slurm has no setting")
        values[name] = _parse(name, text)
    settings = Settings(**{name: _checked(name, values[name]) for name in NAMES})
    _check_together(settings)
    return settings


def seconds_of(text: str) -> int | None:
    """SLURM's time limits as seconds: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S; None if it is none of these."""
    match = TIME.fullmatch(text)
    if not match:
        return None
    days, *rest = match.groups()
    numbers = [int(part) for part in rest if part is not None]
    if days is not None:
        hours, minutes, seconds = numbers + [0] * (3 - len(numbers))
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, minutes, seconds = 0, *(numbers + [0] * (2 - len(numbers)))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds


def port_range(text: str) -> tuple[int, int] | None:
    """LOW-HIGH as two ports; None if it is not a range."""
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if not match:
        return None
    low, high = map(int, match.groups())
    return (low, high) if 1024 <= low < high <= 65535 else None


def closest(name: str, names: Iterable[str]) -> str:
    """A hint at the name that was probably meant, or nothing."""
    near = difflib.get_close_matches(name, list(names), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def _file_of(base: str) -> Path:
    named = CONF / f"{base}.yaml"
    if re.fullmatch(r"[\w-]+", base) and named.is_file():
        return named
    path = Path(base).expanduser()
    if path.is_file():
        return path
    names = sorted(each.stem for each in CONF.glob("*.yaml"))
    raise SlurmError(f"slurm={base}: there is no such file, and conf/slurm has {', '.join(names)}{closest(base, names)}")


def _read(path: Path) -> dict[str, Any]:
    """A file's values, all as text: YAML would read the time 08:00:00 as a number."""
    try:
        values = yaml.load(path.read_text(), Loader=yaml.BaseLoader) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SlurmError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise SlurmError(f"{path}: it must be lines of NAME: VALUE")
    for name in values:
        _known(name, f"{path}: slurm has no setting")
    return values


def _known(name: str, problem: str) -> None:
    if name not in NAMES:
        raise SlurmError(f"{problem} '{name}'{closest(name, NAMES)}; there are: {', '.join(NAMES)}")


def _parse(name: str, text: str) -> Any:
    """A value as typed: lists as one entry, or as [entry, entry]."""
    if name in LISTS and text.startswith("["):
        try:
            return yaml.load(text, Loader=yaml.BaseLoader)
        except yaml.YAMLError:
            raise SlurmError(f"slurm.{name}={text}: write a list as [entry, entry]") from None
    return text


def _checked(name: str, value: Any) -> Any:
    """A value of the right kind and within its range."""
    if name in LISTS:
        return _checked_list(name, value)
    if not isinstance(value, str):
        raise SlurmError(f"slurm.{name}={value}: it must be one value")
    if value in ("", "null", "None", "~"):
        if name in MUST:
            raise SlurmError(f"slurm.{name} must have a value, conf/slurm/default.yaml shows one")
        return None
    if name == "array":
        if value.lower() not in ("true", "false"):
            raise SlurmError(f"slurm.array={value}: it must be true or false")
        return value.lower() == "true"
    if name in NUMBERS:
        low, high = NUMBERS[name]
        if not re.fullmatch(r"[+-]?\d+", value) or not low <= int(value) <= high:
            raise SlurmError(f"slurm.{name}={value}: it must be a whole number from {low:,} to {high:,}")
        return int(value)
    if name not in FREE_TEXT and not WORD.fullmatch(value):
        raise SlurmError(f"slurm.{name}={value}: it must be one word, without blanks or quotes")
    if "\n" in value:
        raise SlurmError(f"slurm.{name}: it must stand on one line")
    return value


def _checked_list(name: str, value: Any) -> tuple[str, ...]:
    entries = [] if value in ("", "null", None) else [value] if isinstance(value, str) else value
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise SlurmError(f"slurm.{name}={value}: it must be a list of texts, [entry, entry]")
    lines = [line for entry in entries for line in entry.splitlines() if line.strip()]
    if name == "directives":
        for line in lines:
            if not re.fullmatch(r"-{1,2}[A-Za-z][^\n]*", line):
                raise SlurmError(f"slurm.directives: '{line}' is not an sbatch option; write --name=value")
            if re.match(r"--(requeue|no-requeue|open-mode|output|array|dependency)\b|-[aod]", line):
                raise SlurmError(f"slurm.directives: {line.split('=')[0]} is set by slurm.submit itself")
    return tuple(lines)


def _check_together(settings: Settings) -> None:
    limit = seconds_of(settings.time)
    if limit is None:
        raise SlurmError(f"slurm.time={settings.time}: write minutes, H:M:S or D-H:M:S, as 90, 08:00:00 or 2-12:00:00")
    if limit <= settings.reserve:
        raise SlurmError(
            f"slurm.time={settings.time} is {limit} s, of which slurm.reserve keeps {settings.reserve} s: nothing would be played"
        )
    if settings.mem is not None and not re.fullmatch(r"\d+[KMGT]?", settings.mem):
        raise SlurmError(f"slurm.mem={settings.mem}: write a number and K, M, G or T, as 16G")
    if port_range(settings.ports) is None:
        raise SlurmError(f"slurm.ports={settings.ports}: write LOW-HIGH within 1024-65535, as 20000-29999")
    for name in ("tmp", "cache"):
        path = getattr(settings, name)
        if path is not None and not path.startswith(("/", "$")):
            raise SlurmError(f"slurm.{name}={path}: it must be a whole path on the nodes, as /tmp or $TMPDIR")
    if len(settings.tmp) > LONGEST_TMP:
        raise SlurmError(
            f"slurm.tmp={settings.tmp}: {len(settings.tmp)} characters, at most {LONGEST_TMP} leave room for Ray's sockets"
        )
