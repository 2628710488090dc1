"""Hydra composes a configuration from conf/ and the words of the command line; out come plain data, and no output folder.

Beyond Hydra's own forms: `map=FOLDER` and `rules=PRESET` take any map and preset, agents need no quotes, fields of map, rules and
grid need no `+`, a grid takes `a,b` and `range(...)` as well as `[a,b]`, and a user's file lies between defaults and command line.
"""

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_module
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.plan import Spec
from experiments.reading import parse_part
from experiments.refusal import Refusal

OPEN = ("sweep.grid.", "rules.", "map.")  # nodes that take keys they do not have yet
APPENDED = ("sweep",)  # groups without a default, given as +sweep=NAME or sweep=NAME
GROUPS = ("game", "scale", "cluster", *APPENDED)  # settings that name a configuration


@dataclass(frozen=True)
class Cluster:
    """Where games are played."""

    kind: str
    workers: int | None
    address: str | None
    temp_dir: str | None


@dataclass(frozen=True)
class Settings:
    """How and where an experiment runs; nothing here changes a result."""

    results_dir: str
    dry_run: bool
    part: str | None
    fresh: bool
    force: bool
    decisions: bool
    moves: bool
    on_error: str
    batch: int | None
    batch_seconds: float
    max_fails: int
    max_retries: int
    stop_at: float | None
    display: str
    compact: bool
    cluster: Cluster

    @property
    def datasets(self) -> tuple[str, ...]:
        """What is stored: games always."""
        return ("games", *(name for name in ("decisions", "moves") if getattr(self, name)))


def options(group: str) -> list[str]:
    """The configurations of a group."""
    folder = files("conf").joinpath(group)
    return sorted(Path(str(entry)).stem for entry in folder.iterdir() if str(entry).endswith(".yaml"))


def compose_config(name: str, overrides: Sequence[str], file: str | None = None) -> DictConfig:
    """The configuration of an experiment: conf/NAME.yaml, a user's file over it, the command line over both."""
    group, slash, asked = name.partition("/")
    if slash and asked not in options(group):
        raise Refusal(f"{group}={asked}: there is no such configuration{near_miss(asked, options(group))}")
    words = [*(_file_overrides(file) if file else []), *(_with_quoted_agents(word) for word in overrides)]
    try:
        rewritten = [_rewritten(_parsed(word)) for word in words]
        with initialize_config_module("conf", version_base="1.3"):
            config = compose(name, rewritten)
        OmegaConf.resolve(config)
    except (HydraException, OmegaConfBaseException) as error:
        raise Refusal(_told(error)) from None
    _check_keys(config)
    return config


def _check_keys(config: DictConfig) -> None:
    """Hydra adds keys (`+deal=3`) and takes them away (`~deals`); every setting must be there, and no other."""
    inside = {"sweep": ("name", "grid"), "game": ("name", "adapter"), "cluster": tuple(Cluster.__dataclass_fields__)}
    for path, keys in {"": tuple(_base_keys()), **inside}.items():
        node = config.get(path) if path else config
        there = list(node) if isinstance(node, DictConfig) else []
        for key in there:
            if key not in keys:
                raise Refusal(f"there is no setting '{f'{path}.' if path else ''}{key}'{near_miss(str(key), keys)}")
        for key in keys:
            if key not in there:
                raise Refusal(f"the setting {f'{path}.' if path else ''}{key} cannot be left out")


def _parsed(word: str) -> Override:
    try:
        return OverridesParser.create().parse_override(word)
    except HydraException as error:
        told = " ".join(str(error).partition("See http")[0].split())
        raise Refusal(f"'{word}' is not understood ({told}); settings are written as name=value, lists as name=[a,b]") from None


def _with_quoted_agents(word: str) -> str:
    """Agents need no quotes: agents=[base,cmcts:cp=2,iterations=3000] are two, since a field follows the agent it belongs to."""
    key, equals, value = word.partition("=")
    if key.lstrip("+") not in ("agents", "opponents") or any(mark in value for mark in "'\"{}$") or value.count("[") > 1:
        return word
    if value.strip().startswith("[") != value.strip().endswith("]"):
        return word  # a bracket is missing: refused when it is parsed
    texts: list[str] = []
    for piece in split_outside_brackets(value.strip().removeprefix("[").removesuffix("]"), ","):
        name = piece.partition("=")[0]
        if texts and "=" in piece and ":" not in name:
            texts[-1] += "," + piece.strip()
        elif piece.strip():
            texts.append(piece.strip())
    return f"{key}{equals}{_quoted(texts)}"


def split_outside_brackets(text: str, mark: str) -> list[str]:
    """Split at a mark, but not inside round brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _rewritten(override: Override) -> str:
    """An override as Hydra takes it."""
    text, key = override.input_line or "", override.key_or_group
    plain = not override.is_delete() and text[:1] not in "+~"
    value = text.partition("=")[2]
    if not key:
        raise Refusal(f"'{text}' names no setting; settings are written as name=value")
    if override.is_sweep_override() and not key.startswith("sweep.grid."):
        raise Refusal(f"'{text}' has several values; a list is written {key}=[...], a sweep sweep.grid.FIELD=[...]")
    if key in GROUPS and not override.is_delete() and not isinstance(override.value(), (str, list)):
        raise Refusal(f"{text}: there is no such configuration; there are: {', '.join(options(key))}")
    if plain and key == "map" and value not in options("map"):
        return f"map.name={_quoted(str(override.value()))}"
    if plain and key == "rules" and not isinstance(override.value(), dict):
        return f"rules.preset={_quoted(str(override.value()))}"
    if plain and key in APPENDED:
        return f"+{text}"
    if plain and key.startswith(OPEN):
        if key.startswith("sweep.grid.") and override.is_sweep_override():
            return f"++{key}={_quoted(list(override.sweep_iterator()))}"
        return f"++{text}"
    return text


def _quoted(value: Any) -> str:
    """A value in Hydra's own notation; every text quoted."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_quoted(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_quoted(inner) for inner in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\") if value.endswith("\\") else value
        return "'" + escaped.replace("'", "\\'") + "'"
    return json.dumps(value, default=str)


def _file_overrides(path: str) -> list[str]:
    """The keys of a user's file as overrides."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Refusal(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise Refusal(f"{path}: expected lines of the form 'key: value', e.g. agents: [base, greedy]")
    known = [key for key in _base_keys() if key not in ("game",)]
    words = []
    for key, value in data.items():
        if key not in (*known, "grid"):
            near = difflib.get_close_matches(str(key), [*known, "grid"], 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise Refusal(f"{path}: unknown key '{key}'{hint}; there are: {', '.join(sorted([*known, 'grid']))}")
        words += _words("sweep.grid" if key == "grid" else str(key), value)
    return words


def _words(key: str, value: Any) -> list[str]:
    """A key of a file as overrides; mappings field by field, so that they lie over the defaults."""
    if isinstance(value, dict) and key not in ("agents", "opponents", "tables"):
        return [word for inner, below in value.items() for word in _words(f"{key}.{inner}", below)]
    if isinstance(value, str) and key in ("map", "scale", "cluster", "rules"):
        return [f"{key}={value}" if key != "map" or value in options("map") else f"map.name={_quoted(value)}"]
    return [f"{key}={_quoted(value)}"]


def _base_keys() -> list[str]:
    text = files("conf").joinpath("base.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    groups = [next(iter(entry)) for entry in data.pop("defaults") if isinstance(entry, dict)]
    return [*groups, *data]


def _told(error: Exception) -> str:
    """Hydra's message in one line, with near misses for a mistyped key."""
    text = " ".join(str(error).split())
    if "Could not override '" in text and "defaults list" not in text:
        key = text.split("Could not override '")[1].split("'")[0]
        near = difflib.get_close_matches(key, _base_keys(), 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        return f"there is no setting '{key}'{hint}; the settings are {', '.join(sorted(_base_keys()))}"
    if "Could not find '" in text and "/" in text:
        group, _, asked = text.split("Could not find '")[1].split("'")[0].rpartition("/")
        return f"{group}={asked}: there is no such configuration{near_miss(asked, options(group))}"
    return text


def near_miss(word: str, known: Sequence[str]) -> str:
    """A hint for a mistyped word: what it may have meant, and what there is."""
    near = difflib.get_close_matches(word, known, 1)
    return (f" (did you mean {near[0]}?)" if near else "") + f"; there are: {', '.join(known)}"


def spec_of(config: DictConfig) -> Spec:
    """What is played, as plain data."""
    data: Any = OmegaConf.to_container(config, resolve=True)
    iterations = data["iterations"]
    if iterations is not None and (isinstance(iterations, bool) or not isinstance(iterations, (int, float)) or iterations < 1):
        raise Refusal(f"iterations={iterations}: it must be a whole number from 1 on")
    if not re.fullmatch(r"\w+", str(data["kind"])):
        raise Refusal(f"kind={data['kind']}: it begins the name of the run folder and must be one word")
    lists = {}
    for key in ("agents", "opponents", "tables"):
        value = data[key] or []
        lists[key] = value if isinstance(value, list) else [value]
    return Spec(
        kind=str(data["kind"]),
        game=data["game"]["adapter"],
        map=data["map"],
        rules=data["rules"],
        players=data["players"],
        self_play=_true_or_false(data, "self_play"),
        seating=str(data["seating"]),
        grid=data["sweep"]["grid"] or {},
        defaults={} if iterations is None else {"iterations": iterations},
        deals=data["deals"],
        seed=data["seed"],
        name=data["name"],
        **lists,
    )


def _true_or_false(data: Any, name: str) -> bool:
    if not isinstance(data[name], bool):
        raise Refusal(f"{name}={data[name]}: it must be true or false")
    return bool(data[name])


def settings_of(config: DictConfig) -> Settings:
    """How it is run, checked."""
    data: Any = OmegaConf.to_container(config, resolve=True)
    for name in ("dry_run", "fresh", "force", "decisions", "moves", "compact"):
        _true_or_false(data, name)
    if data["results_dir"] in (None, ""):
        raise Refusal(f"results_dir={data['results_dir'] or ''}: it must be a folder, e.g. results_dir=results")
    data["results_dir"] = str(data["results_dir"])
    cluster = Cluster(**data["cluster"])
    known = {name: data[name] for name in Settings.__dataclass_fields__ if name != "cluster"}
    settings = Settings(**known, cluster=cluster)
    for name, value, low in (
        ("batch", settings.batch, 1),
        ("cluster.workers", cluster.workers, 1),
        ("max_fails", settings.max_fails, 1),
        ("max_retries", settings.max_retries, 0),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < low):
            raise Refusal(f"{name}={value}: it must be a whole number from {low} on")
    if (
        isinstance(settings.batch_seconds, bool)
        or not isinstance(settings.batch_seconds, (int, float))
        or not 0 < settings.batch_seconds <= 3600
    ):
        raise Refusal(f"batch_seconds={settings.batch_seconds}: it must be a number of seconds above 0")
    for name, word, allowed in (
        ("on_error", settings.on_error, ("stop", "forfeit")),
        ("display", settings.display, ("auto", "plain", "none")),
        ("cluster.kind", cluster.kind, ("local", "ray", "serial")),
    ):
        if word not in allowed:
            raise Refusal(f"{name}={word}: it must be one of {', '.join(allowed)}")
    if settings.part:
        parse_part(settings.part)
    if settings.stop_at is not None and (isinstance(settings.stop_at, bool) or not isinstance(settings.stop_at, (int, float))):
        raise Refusal(f"stop_at={settings.stop_at}: it must be a unix time in seconds")
    return settings
