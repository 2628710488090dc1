"""Random streams: SplitMix64, one 64-bit word of state each, all derived from one seed.

The game and each agent have streams of their own, so an agent's thinking never changes the cards. A stream's start depends on the
seed, the deal and (for agents) the rotation and turn position, on nothing else.
"""

import numpy as np

from ttr.jit import inlined, jitted

GOLD = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = (np.uint64(s) for s in (30, 27, 31, 32))
GAME_TAG, AGENT_TAG, CARD_TAG, TICKET_TAG = (np.uint64(t) for t in (1, 2, 3, 4))
_ZERO = np.uint64(0)
CERTAIN = 1 << 30


@inlined
def mix(word):
    """SplitMix64's finaliser."""
    z = (word ^ (word >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@inlined
def below(word, n):
    """A random word as a number 0 .. n-1, from its upper half."""
    return np.int64(((word >> _S32) * np.uint64(n)) >> _S32)


@inlined
def happens(chance, stream):
    """Whether something happens that has this many chances in CERTAIN; returns it and the stream. No chance, no draw."""
    if chance <= 0:
        return False, stream
    stream += GOLD
    return below(mix(stream), CERTAIN) < chance, stream


@inlined
def fold(start, value):
    """One step of the hash that derives streams: H(a, b, ...) folds `mix` over its arguments from 0."""
    return mix((start ^ np.uint64(value)) + GOLD)


@jitted
def game_stream(seed, deal):
    """H(game tag, seed, deal): the stream of one deal, the same for every matchup and rotation."""
    return fold(fold(fold(_ZERO, GAME_TAG), seed), deal)


@jitted
def agent_stream(seed, deal, rotation, seat):
    """H(agent tag, seed, deal, rotation, turn position): an agent's own stream."""
    return fold(fold(fold(fold(fold(_ZERO, AGENT_TAG), seed), deal), rotation), seat)
