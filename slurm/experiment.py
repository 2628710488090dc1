"""An experiment's command line, understood before it is queued: its plan, its folder, the agents its games need."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.config import Settings as RunSettings
from experiments.config import compose_config, options, settings_of, spec_of
from experiments.driver import run_folder
from experiments.plan import Plan, make_plan
from experiments.refusal import Refusal
from slurm.settings import SlurmError, closest
from ttr.agents.registry import SWAP, agent_names

EXPERIMENTS = ("round_robin", "sweep", "final_eval", "free_for_all", "run", "reproduce")
OURS = {
    "cluster": "the job brings its own cluster",
    "stop_at": "the job's own end is the limit",
    "part": "slurm.array=true makes slices",
    "fresh": "each start of the job would begin again; start it here with cluster=serial, then queue without fresh=true",
    "force": "each start of the job would begin again",
}


@dataclass(frozen=True)
class Experiment:
    """A command that can be queued."""

    module: str
    words: tuple[str, ...]
    plan: Plan
    settings: RunSettings

    @property
    def run(self) -> Path:
        """The folder of its results."""
        return run_folder(self.plan, self.settings).absolute()

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the project that its games need, to be compiled on each node."""
        known = set(agent_names()) - {SWAP}
        found = {"random"}
        for matchup in self.plan.matchups:
            for seat in matchup.seats:
                identity = seat["identity"]
                parts = [identity["first"], identity["second"]] if identity["agent"] == SWAP else [identity]
                found |= {str(part["agent"]) for part in parts}
        return tuple(sorted(found & known))


def understand(module: str, words: Sequence[str]) -> Experiment:
    """The experiment that a command line asks for; refuses, in one line, what could not be played."""
    name = module.removeprefix("experiments.")
    if name not in EXPERIMENTS or not module.startswith("experiments."):
        known = [f"experiments.{each}" for each in EXPERIMENTS]
        raise SlurmError(f"'{module}' cannot be queued{closest(module, known)}; experiments are: {', '.join(known)}")
    for word in words:
        key = word.lstrip("+").partition("=")[0].partition(".")[0]
        if key in OURS and not word.endswith("=false"):
            raise SlurmError(f"{word} cannot be given with slurm.submit: {OURS[key]}")
    file, config, overrides = None, name, [word for word in words if "=" in word]
    plain = [word for word in words if "=" not in word]
    if name == "run" and plain:
        file = plain.pop(0)
    if plain or (name == "run" and not file):
        raise SlurmError(f"{module}: {f'{plain[0]!r} is no setting' if plain else 'name your FILE.yaml'}; settings are name=value")
    if name == "reproduce":
        studies = [word for word in overrides if word.lstrip("+").startswith("study=")]
        if not studies:
            raise SlurmError(f"name a published table: study=NAME; there are: {', '.join(options('study'))}")
        overrides.remove(studies[0])
        config = f"study/{studies[0].partition('=')[2]}"
    try:
        composed = compose_config(config, overrides, file)
        return Experiment(module, tuple(words), make_plan(spec_of(composed)), settings_of(composed))
    except Refusal as refusal:
        raise SlurmError(f"{module}: {refusal}") from None
