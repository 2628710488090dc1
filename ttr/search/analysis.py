"""What a search thinks of one position: its candidate actions, and which of them each difficulty-adjusting choice would play."""

from dataclasses import dataclass

import numpy as np

from ttr.actions import count_actions, nth_code
from ttr.agents.contract import new_scratch
from ttr.agents.registry import SWAP, Agent, AgentError, agent_names, make_agent
from ttr.search.difficulty import DDA, FINAL_CHOICES, TRUE_ROSAS, merit
from ttr.search.reading import Child, children
from ttr.seats import JittedSeat
from ttr.tables import Game


@dataclass(frozen=True)
class Analysis:
    """A position as searched by an agent; a lone legal action is not searched. Means are points of the player to move."""

    agent: Agent
    iterations: int
    nodes: int
    mean: float  # of the position
    actions: tuple[Child, ...]  # best mean first
    choices: dict[str, tuple[Child, ...]]  # by dda: the actions it plays, each as likely


def searching_agents() -> list[str]:
    """Names of the configured agents that search, those apart that search for a target alone."""
    return [name for name in agent_names() if name != SWAP and _analyses(make_agent(name))]


def _analyses(agent: Agent) -> bool:
    return "dda" in agent.fields and agent.model is None


def analyse(g: Game, state: np.void, agent: Agent, stream: int) -> Analysis:
    """Search a position with the agent's fields and make every choice of DDA; the true variants search anew."""
    if not _analyses(agent):
        problem = "searches for a target alone" if agent.model else "does not search"
        raise AgentError(f"agent '{agent.text}' {problem}; those that do are: {', '.join(searching_agents())}")
    legal = count_actions(g, state)
    if legal <= 1:
        return Analysis(agent, 0, 0, 0.0, (Child(0, int(nth_code(g, state, 0, legal)), 0, 0),), {})
    scratch = new_scratch()
    tree = scratch["tree"]
    seat = _search(g, state, agent, "none", stream, scratch)
    actions = tuple(sorted(children(tree), key=lambda child: (-child.mean, -child.visits, child.code)))
    mean = int(tree["total"][0]) / (2 * int(tree["visits"][0]))
    result = Analysis(agent, int(seat.me["iterations"]), int(seat.me["nodes"]), mean, actions, {})
    for number, dda in enumerate(DDA):
        if number >= TRUE_ROSAS:
            _search(g, state, agent, dda, stream, scratch)
        result.choices[dda] = _picks(tree, agent, number)
    return result


def _search(g: Game, state: np.void, agent: Agent, dda: str, stream: int, scratch: np.void) -> JittedSeat:
    seat = JittedSeat(g, make_agent(agent.name, {**agent.fields, "dda": dda}), stream, scratch)
    seat.decide(state)
    return seat


def _picks(tree: np.void, agent: Agent, dda: int) -> tuple[Child, ...]:
    """The actions that a choice ties for first place."""
    fields = agent.fields
    final = FINAL_CHOICES.index(fields["final_choice"])
    found = children(tree)
    worth = [merit(tree, c.slot, dda, final, fields["target"], fields["posas_threshold"], fields["momentum"]) for c in found]
    return tuple(child for child, value in zip(found, worth) if value == max(worth))
