"""The compiled kernel: plays a learning policy patient by patient, arrays in, arrays out.

A round is a tournament: of two panels the dearer (in a cascade the later) wins if its extra cost
is at most the estimated disagreement. What patients have shown is kept as bits, 64 patients a
word, and a pair is counted only when it is compared. Who wins depends on the counts, the patient's
number and the key alone: not on the order of comparisons, nor on stops in between.

All compiled code is in this one file, since the compiler's cache notices changes of a file only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from csmd_core.problem import TIE

THOMPSON, KL_UCB, UCB1 = 0, 1, 2

_CLOSE = 1e-9  # a draw this close to its bar is decided by the exact bar
_RENEW = 1024  # observations after which the running bar is computed afresh
_MANY = 24  # observations at once from which computing afresh is quicker
_TINY = 1e-200  # a term below this is kept as its logarithm,
_LOG_BACK = -400.0  # until that is above this
_ALL, _ONE, _ZERO = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1), np.uint64(0)

F = TypeVar("F", bound=Callable[..., Any])


class Memory(NamedTuple):
    """What patients have shown, as bits (block of 64 patients, panel); per pair of panels the
    counts up to patient `counted`, and the two numbers its comparison needs: for Thompson
    I_gap(1 + disagreed, 1 + agreed) and its term, for kl-UCB log gap and log(1 − gap)."""

    shown: NDArray[np.uint64]
    said: NDArray[np.uint64]
    counted: NDArray[np.int32]
    compared: NDArray[np.int32]
    disagreed: NDArray[np.int32]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    beaten_by: NDArray[np.int32]
    aside: NDArray[np.int32]


class Game(NamedTuple):
    """The policy, the panels and the patients, which stay the same, and the memory."""

    kind: int
    parameter: float
    cascade: bool
    costs: NDArray[np.float64]
    contains: NDArray[np.bool_]
    predictions: NDArray[np.uint8]
    n_log_n: NDArray[np.float64]
    key: np.uint64
    memory: Memory


def compiled(function: F, **options: Any) -> F:
    """Compile on first use, without Python's lock, and keep the result on disk where possible:
    beside this file, in NUMBA_CACHE_DIR or in the user's cache; else every process compiles."""
    try:
        return cast(F, njit(nogil=True, cache=True, error_model="numpy", **options)(function))
    except RuntimeError:
        return cast(F, njit(nogil=True, error_model="numpy", **options)(function))


def _inlined(function: F) -> F:
    """Compile for use inside the kernel: no allocation, so no counting of references, and no
    calls, so no copying of `Game` and `Memory`. That is what makes it as fast as C."""
    return compiled(function, forceinline=True, _nrt=False)


@_inlined
def uniform(key: np.uint64, position: np.uint64) -> float:
    """Return the number in [0, 1) at this position of the key's SplitMix64 sequence."""
    z = key + (position + _ONE) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * 2.0**-53


@compiled
def whole_numbers(key: np.uint64, n: int, below: int) -> NDArray[np.int64]:
    """Draw n numbers of 0 … below − 1: the t-th, counted from 1, is at position t of the key."""
    drawn = np.empty(n, dtype=np.int64)
    for k in range(n):
        drawn[k] = int(uniform(key, np.uint64(k + 1)) * below)
    return drawn


@_inlined
def _n_ones(word: np.uint64) -> int:
    word = word - ((word >> _ONE) & np.uint64(0x5555555555555555))
    two = np.uint64(0x3333333333333333)
    word = (word & two) + ((word >> np.uint64(2)) & two)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_inlined
def _stirling_error(n: float) -> float:
    """Return log n! minus the logarithm of Stirling's √(2πn)·(n/e)^n."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    nn = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / nn) / nn) / nn) / n


@_inlined
def _deviance(k: float, mean: float) -> float:
    """Return k·log(k/mean) + mean − k without cancellation."""
    if abs(k - mean) >= 0.1 * (k + mean):
        return k * math.log(k / mean) + mean - k
    v = (k - mean) / (k + mean)
    total, power = (k - mean) * v, 2 * k * v
    for j in range(1, 20):
        power *= v * v
        total += power / (2 * j + 1)
    return total


@compiled
def _log_term(x: float, a: float, b: float) -> float:
    """Return log(x^a (1−x)^b / B(a, b)) by Loader's saddle point: no large terms cancel."""
    n = a + b
    errors = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    deviances = _deviance(a, n * x) + _deviance(b, n * (1 - x))
    return errors - deviances + 0.5 * math.log(a * b / (2 * math.pi * n))


@_inlined
def _not_zero(value: float) -> float:
    return value if abs(value) > 1e-30 else 1e-30


@compiled
def _continued_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction of I_x(a, b) by Lentz's method, for x below the mean."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + even * d)
        c = _not_zero(1 + even / c)
        total *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _not_zero(1 + odd * d)
        c = _not_zero(1 + odd / c)
        total *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return total


@compiled
def incomplete_beta(x: float, a: float, b: float) -> tuple[float, float]:
    """Return I_x(a, b) and its term (see `_one_more`) for 0 < x < 1 and whole a, b ≥ 1."""
    log_term = _log_term(x, a, b)
    term = math.exp(log_term)
    if x < (a + 1) / (a + b + 2):
        share = term * _continued_fraction(x, a, b) / a
    else:
        share = 1 - term * _continued_fraction(1 - x, b, a) / b
    return share, term if term >= _TINY else log_term


@_inlined
def _one_more(share: float, term: float, x: float, a: float, b: float) -> tuple[float, float]:
    """Go from I_x(a, b) to I_x(a+1, b) = I − T/a, with T = x^a (1−x)^b / B(a, b).

    By symmetry ``_one_more(1 - share, term, 1 - x, b, a)`` goes to 1 − I_x(a, b+1). A term too
    small for a plain number is its logarithm, told by its sign; then the share stands still.
    """
    factor = x * (a + b) / a
    if term < 0:
        term += math.log(factor)
        return share, math.exp(term) if term > _LOG_BACK else term
    share -= term / a
    term *= factor
    return share, term if term >= _TINY else math.log(term)


@_inlined
def _follow(memory: Memory, panel: int, rival: int, gap: float, fresh: tuple[int, int]) -> None:
    """Take I_gap(1 + disagreed, 1 + agreed) through fresh observations (compared, disagreed)."""
    compared, disagreed = fresh
    n = int(memory.compared[panel, rival])
    a = 1.0 + memory.disagreed[panel, rival]
    b = 2.0 + n - a
    share, term = memory.first[panel, rival], memory.second[panel, rival]
    if compared >= _MANY or (n + compared) // _RENEW > n // _RENEW:
        share, term = incomplete_beta(gap, a + disagreed, b + compared - disagreed)
    else:
        for _ in range(disagreed):
            share, term = _one_more(share, term, gap, a, b)
            a += 1
        share = 1 - share
        for _ in range(compared - disagreed):
            share, term = _one_more(share, term, 1 - gap, b, a)
            b += 1
        share = 1 - share
    memory.first[panel, rival], memory.second[panel, rival] = share, term


@_inlined
def _begin(game: Game, panel: int, rival: int, gap: float) -> None:
    """Set the pair's two numbers for no observations."""
    memory = game.memory
    if game.kind == THOMPSON:
        memory.first[panel, rival] = gap
        memory.second[panel, rival] = gap * (1 - gap)
    elif game.kind == KL_UCB and gap < 1:
        memory.first[panel, rival] = math.log(gap)
        memory.second[panel, rival] = math.log1p(-gap)


@_inlined
def _count(game: Game, t: int, panel: int, rival: int, gap: float) -> None:
    """Count what was shown of the pair to the patients before t, since it was last counted."""
    memory = game.memory
    start = memory.counted[panel, rival]
    if start == 0:
        _begin(game, panel, rival, gap)
    compared, disagreed = 0, 0
    fresh = _ALL << np.uint64(start & 63)
    for block in range(start >> 6, (t + 62) >> 6):
        both = memory.shown[block, panel] & memory.shown[block, rival] & fresh
        if both != _ZERO:
            compared += _n_ones(both)
            disagreed += _n_ones(both & (memory.said[block, panel] ^ memory.said[block, rival]))
        fresh = _ALL
    memory.counted[panel, rival] = t - 1
    if compared > 0:
        if game.kind == THOMPSON:
            _follow(memory, panel, rival, gap, (compared, disagreed))
        memory.compared[panel, rival] += compared
        memory.disagreed[panel, rival] += disagreed


@_inlined
def _draw_reaches(game: Game, t: int, panel: int, rival: int, gap: float) -> bool:
    """Say whether the Beta draw is at least the gap: u ≥ I_gap(1 + disagreed, 1 + agreed)."""
    memory = game.memory
    n = len(game.costs)
    position = np.uint64((t * n + min(panel, rival)) * n + max(panel, rival))
    draw, least = uniform(game.key, position), memory.first[panel, rival]
    if abs(draw - least) < _CLOSE:
        disagreed = memory.disagreed[panel, rival]
        agreed = memory.compared[panel, rival] - disagreed
        least = incomplete_beta(gap, 1.0 + disagreed, 1.0 + agreed)[0]
    return bool(draw >= least)


@_inlined
def _index_reaches(game: Game, bar: float, panel: int, rival: int, gap: float) -> bool:
    """Say whether the kl-UCB or UCB1 index is at least the gap, without finding the index."""
    memory = game.memory
    compared, disagreed = memory.compared[panel, rival], memory.disagreed[panel, rival]
    if compared == 0:
        return game.kind == UCB1 or gap <= 1
    if gap * compared <= disagreed:
        return True
    if game.kind == UCB1:
        return bool((gap * compared - disagreed) ** 2 <= bar * compared)
    if gap >= 1:
        return False
    agreed = compared - disagreed
    entropy = game.n_log_n[disagreed] + game.n_log_n[agreed] - game.n_log_n[compared]
    cross = disagreed * memory.first[panel, rival] + agreed * memory.second[panel, rival]
    return bool(entropy - cross <= bar)


@_inlined
def _beats(game: Game, t: int, bar: float, rival: int, panel: int) -> bool:
    """Say whether the rival beats the panel; equal costs in subsets beat nobody."""
    gap = game.costs[rival] - game.costs[panel]
    if rival == panel or (gap == 0 and not game.cascade):
        return False
    dearer = rival > panel if game.cascade else gap > 0
    gap = (gap if dearer else -gap) - TIE
    if gap <= 0:
        return dearer
    if game.kind == THOMPSON and gap >= 1:
        return not dearer
    _count(game, t, panel, rival, gap)
    if game.kind == THOMPSON:
        return dearer == _draw_reaches(game, t, panel, rival, gap)
    return dearer == _index_reaches(game, bar, panel, rival, gap)


@_inlined
def _unbeaten(game: Game, t: int, bar: float, panel: int, end: int) -> bool:
    """Say whether neither its latest conqueror nor any panel before ``end`` beats this one."""
    memory = game.memory
    for k in range(-1, end):
        rival = memory.beaten_by[panel] if k < 0 else k
        if _beats(game, t, bar, rival, panel):
            memory.beaten_by[panel] = rival
            return False
    return True


@compiled
def threshold(kind: int, parameter: float, t: int) -> float:
    """Return what bounds N·d for kl-UCB (never below 0) and N·(gap − p̂)² for UCB1."""
    if kind == THOMPSON or t < 2:
        return 0.0
    if kind == UCB1:
        return parameter * math.log(t)
    return max(0.0, math.log(t) + parameter * math.log(math.log(t)))


@_inlined
def _choose(game: Game, t: int, previous: int) -> int:
    """Return the first panel that no other beats, else the last: min(B̂ ∪ {last}).

    One pass keeps a champion; panels of its very cost, which cannot beat it nor be beaten, are put
    aside. The previous choice starts, since it often wins: then one pass is all.
    """
    memory = game.memory
    n = len(game.costs)
    if t == 1 and game.kind != THOMPSON:
        return n - 1
    bar = threshold(game.kind, game.parameter, t)
    champion, n_aside = previous, 0
    for rival in range(n):
        if rival in (champion, previous):
            continue
        if not game.cascade and game.costs[rival] == game.costs[champion]:
            memory.aside[n_aside] = rival
            n_aside += 1
        elif _beats(game, t, bar, rival, champion):
            memory.beaten_by[champion] = rival
            champion = rival
    winner = n - 1
    for k in range(-1, n_aside):
        panel = champion if k < 0 else memory.aside[k]
        met = 0 if champion == previous else max(champion, previous + 1)
        if panel < winner and _unbeaten(game, t, bar, panel, met if k < 0 else n):
            winner = panel
    return winner


@_inlined
def _show(game: Game, patient: int, choice: int, k: int) -> None:
    """Note what every panel contained in the choice says of the patient played k-th."""
    memory = game.memory
    block, bit = k >> 6, _ONE << np.uint64(k & 63)
    for panel in range(len(game.costs)):
        if game.contains[choice, panel]:
            memory.shown[block, panel] |= bit
            if game.predictions[patient, panel]:
                memory.said[block, panel] |= bit


@_inlined
def play(game: Game, patients: NDArray[np.int64], choices: NDArray[np.int32], start: int) -> None:
    """Show the choices before ``start`` again, then choose for every later patient."""
    previous = len(game.costs) - 1
    for k in range(len(patients)):
        if k >= start:
            choices[k] = _choose(game, k + 1, previous)
        previous = choices[k]
        _show(game, patients[k], previous, k)
