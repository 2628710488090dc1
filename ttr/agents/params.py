"""The fields of every agent, by module: what conf/agent/NAME.yaml must say and a command line may change.

No defaults here: values live in the configuration. A field is a whole number, a number, true/false, or one of several words.
`__post_init__` refuses what is out of range (ValueError). The order of the fields is their order in `me.params`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class NoParams:
    """An agent without fields."""


PARAMS: dict[str, type] = {
    "random": NoParams,
    "greedy": NoParams,
}
