"""A user's own agent: a class or function of a Python file, named `my_agents.py:Mine[:field=value,...]`.

A function is `def mine(view, moves, random)` and returns one of the moves; keywords after the three are its fields. A class has
a method `decide(self, view, moves, random)`, is made once for every game, and the arguments of its `__init__` are its fields.
The agent is its source text: it is made from that alone, so it can travel to other machines, and the file need not lie there.
"""

import ast
import hashlib
import inspect
import json
import linecache
import sys
import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

import yaml

from ttr.agents.registry import Agent, AgentError, field_value, near_misses, shown_value

Decide = Callable[[Any, Any, Any], Any]  # (view, moves, random) -> move
ARGUMENTS = "(view, moves, random)"
PLAIN = (bool, int, float, str)
LONGEST = 400  # characters of an exception's own message
GOES_WRONG = (Exception, SystemExit, GeneratorExit)  # all but Ctrl-C


class AgentFailure(RuntimeError):
    """An agent that raised an exception or played an illegal move; the message is one line."""


class IllegalMove(AgentFailure):
    """The second of the two."""


def user_agent(name: str, given: Mapping[str, Any]) -> Agent:
    """The agent that `file.py:Object` names, its fields resolved by its signature; raises AgentError."""
    path, _, wanted = name.partition(".py:")
    path, wanted = (f"{path}.py", wanted) if wanted else (name.rstrip(":"), "")
    try:
        source = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise AgentError(f"agent '{name}': cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise AgentError(f"agent '{name}': {path} is no text in UTF-8") from None
    _check_stands_alone(source, Path(path))
    return agent_of_source(source, f"{Path(path).name}:{wanted}", given)


def agent_of_source(source: str, name: str, given: Mapping[str, Any]) -> Agent:
    """The agent `file.py:Object` of a source text; the file is only named in messages."""
    file, _, wanted = name.rpartition(":")
    found = _object(source, file, wanted)
    resolved, shown = _fields(name, found, given)
    return Agent(name + (":" + ",".join(shown) if shown else ""), name, resolved, source)


def make_decide(agent: Agent) -> Decide:
    """A user's agent ready for one game; raises AgentFailure if it cannot be made."""
    file, _, wanted = agent.name.rpartition(":")
    found = _object(agent.source, file, wanted)
    if not inspect.isclass(found):
        return partial(found, **agent.fields)
    try:
        return found(**agent.fields).decide
    except GOES_WRONG as error:
        raise AgentFailure(failure_text(error, file)) from error


def forget_modules() -> None:
    """Drop all modules made from source texts, so that the next agent starts with fresh ones."""
    _module.cache_clear()


def failure_text(error: BaseException, file: str) -> str:
    """What was raised, and the last line of the user's file that led to it; one line."""
    line = _line_in(error, file)
    try:
        told = " ".join(str(error).split())
    except GOES_WRONG:
        told = "its own text cannot be made"
    told = told if len(told) <= LONGEST else told[: LONGEST - 3] + "..."
    return f"{file}{f', line {line}' if line else ''}: {type(error).__name__}{': ' if told else ''}{told}"


def _line_in(error: BaseException, file: str) -> int:
    line, trace = 0, error.__traceback__
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == file else line
        trace = trace.tb_next
    return line


@cache
def _module(source: str, file: str) -> types.ModuleType:
    """The source text run as a module, once; it is registered under a name of its own, which dataclasses need."""
    try:
        code = compile(source, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise AgentError(f"{file}, line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise AgentError(f"{file}: {str(error) or 'it is nested too deeply'}") from None
    name = f"user_agent_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        exec(code, module.__dict__)
    except GOES_WRONG as error:
        raise AgentError(failure_text(error, file)) from None
    return module


def _check_stands_alone(source: str, path: Path) -> None:
    """Modules that lie beside the file would not travel with it, nor count in the agent's identity."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return  # told when it is compiled
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["." if node.level else str(node.module)]
        for name in names:
            first = name.partition(".")[0]
            beside = (path.parent / f"{first}.py").is_file() or (path.parent / first / "__init__.py").is_file()
            if not first or (beside and first != "ttr"):
                raise AgentError(
                    f"{path.name}, line {getattr(node, 'lineno', 0)}: an agent must stand in one file, "
                    f"but it imports {first or 'a module'} from beside it"
                )


def _object(source: str, file: str, wanted: str) -> Any:
    """The class or function of that name, with the signature that an agent has."""
    module = _module(source, file)
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and callable(value) and not name.startswith("_")
    ]
    if not wanted:
        raise AgentError(f"agent '{file}': which object of the file? Write {file}:Name; there are: {', '.join(own) or 'none'}")
    if not hasattr(module, wanted):
        raise AgentError(f"{file} has no '{wanted}'{near_misses(wanted, own)}")
    found = getattr(module, wanted)
    where = f"{file}, line {_line_of(source, wanted)}: {wanted}"
    if not callable(found):
        raise AgentError(f"{where} is no class or function but {type(found).__name__}")
    if not inspect.isclass(found):
        _check_takes_three(found, f"{where}{ARGUMENTS}")
    elif not callable(getattr(found, "decide", None)):
        raise AgentError(f"{where} has no method decide(self, view, moves, random)")
    else:
        _check_takes_three(partial(found.decide, None), f"{where}.decide(self, view, moves, random)")
    return found


def _line_of(source: str, wanted: str) -> int:
    for node in ast.walk(ast.parse(source)):
        named = [node.name] if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else []
        if isinstance(node, ast.Assign):
            named = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if wanted in named:
            return int(getattr(node, "lineno", 1))
    return 1


def _check_takes_three(function: Callable, wanted: str) -> None:
    try:
        positional = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return  # written in C: told when it is called
    kinds = [p.kind for p in positional]
    many = inspect.Parameter.VAR_POSITIONAL in kinds
    by_place = [k for k in kinds if k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    if not many and len(by_place) < 3:
        raise AgentError(f"{wanted} is how it is called, but it takes {len(by_place)} arguments")


def _parameters(found: Any) -> dict[str, inspect.Parameter]:
    """The fields: all arguments of a class, those after the first three of a function."""
    try:
        parameters = list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):
        return {}
    skipped = 0 if inspect.isclass(found) else 3
    left_out = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {p.name: p for p in parameters[skipped:] if p.kind not in left_out}


def _fields(name: str, found: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """All fields with their values, and as text those that differ from the file's own."""
    parameters = _parameters(found)
    for key in given:
        if key not in parameters:
            raise AgentError(f"agent '{name}' has no field '{key}'{near_misses(key, list(parameters))}")
    try:
        hints = get_type_hints(found.__init__ if inspect.isclass(found) else found)
    except (NameError, TypeError, AttributeError):
        hints = {}
    resolved: dict[str, Any] = {}
    shown = []
    for key, parameter in parameters.items():
        default = parameter.default
        if key in given:
            resolved[key] = _typed(name, key, given[key], hints.get(key, type(default)))
            if resolved[key] != default:
                shown.append(f"{key}={shown_value(resolved[key])}")
        elif default is inspect.Parameter.empty:
            raise AgentError(f"agent '{name}' needs {key}: write {name}:{key}=...")
        elif isinstance(default, PLAIN):
            resolved[key] = default
    return resolved, shown


def _typed(name: str, key: str, value: Any, kind: Any) -> Any:
    """A field's value as its annotation or its default asks for; without either, as YAML reads it."""
    if kind in (bool, int, float) or get_origin(kind) is Literal:
        return field_value(name, key, value, kind)
    if kind is str:
        return str(value)
    try:
        parsed = yaml.safe_load(value) if isinstance(value, str) else value
        json.dumps(parsed)
    except (yaml.YAMLError, TypeError, ValueError):
        raise AgentError(f"agent '{name}': {key} is '{value}', which is no plain value") from None
    return parsed
