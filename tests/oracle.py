"""The paper's listings, slowly and literally: every estimate, both sets, every round.

It shares with the engine only the meaning of words: costs within 1e-12 are equal, a gap is worth
it if gap ≤ estimate + 1e-12, draw (t, i, j) is at position t·n² + i·n + j of a SplitMix64 sequence.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv

from csmd_core.problem import Problem

TIE = 1e-12


def splitmix(key: int, position: int) -> float:
    mask = (1 << 64) - 1
    z = (key + (position + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / 2**53


def kl(p: float, q: float) -> float:
    """Return d(p, q) of two Bernoulli distributions."""
    ill = 0.0 if p == 0 else math.inf if q == 0 else p * math.log(p / q)
    well = 0.0 if p == 1 else math.inf if q == 1 else (1 - p) * math.log((1 - p) / (1 - q))
    return ill + well


def kl_index(n: int, disagreed: int, t: int, a: float) -> float:
    """Return the largest q with N·d(p̂, q) ≤ log t + a·log log t, by bisection."""
    if n == 0:
        return 1.0
    bound = max(0.0, math.log(t) + a * math.log(math.log(t)))
    p = disagreed / n
    low, high = p, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if n * kl(p, middle) <= bound else (low, middle)
    return low


def ucb1_index(n: int, disagreed: int, t: int, alpha: float) -> float:
    return math.inf if n == 0 else disagreed / n + math.sqrt(alpha * math.log(t) / n)


def keyed_draw(key: int, n_panels: int):
    """Draw from the posterior by the engine's uniform numbers."""

    def draw(n: int, disagreed: int, t: int, i: int, j: int) -> float:
        u = splitmix(key, t * n_panels**2 + i * n_panels + j)
        return float(betaincinv(1 + disagreed, 1 + n - disagreed, u))

    return draw


def free_draw(rng: np.random.Generator):
    """Draw from the posterior by NumPy's own generator."""

    def draw(n: int, disagreed: int, t: int, i: int, j: int) -> float:
        return float(rng.beta(1 + disagreed, 1 + n - disagreed))

    return draw


def play(problem: Problem, index, patients, first_gets_last: bool) -> list[int]:
    """Play the listing with ``index(n, disagreed, t, i, j)`` as the estimate of each pair."""
    costs = np.round(problem.scaled_costs, 12).tolist()
    n = len(costs)
    predictions = problem.evidence.predictions
    masks = problem.panels.masks
    cascade = problem.panels.mode == "cascade"
    compared = [[0] * n for _ in range(n)]
    disagreed = [[0] * n for _ in range(n)]
    choices = []
    for t, patient in enumerate(patients, start=1):
        if t == 1 and first_gets_last:
            choice = n - 1
        else:
            estimate = [[0.0] * n for _ in range(n)]
            for i in range(n):
                for j in range(i + 1, n):
                    e = index(compared[i][j], disagreed[i][j], t, i, j)
                    estimate[i][j] = estimate[j][i] = e
            choice = min({*unbeaten(costs, estimate, cascade), n - 1})
        choices.append(choice)
        seen = [i for i in range(n) if masks[i] & masks[choice] == masks[i]]
        for i in seen:
            for j in seen:
                compared[i][j] += 1
                disagreed[i][j] += int(predictions[patient, i] != predictions[patient, j])
    return choices


def unbeaten(costs: list[float], estimate: list[list[float]], cascade: bool) -> set[int]:
    """Return B^l ∩ B^h."""
    panels = range(len(costs))

    def before(i: int) -> list[int]:
        return [j for j in panels if (j < i if cascade else costs[j] < costs[i])]

    def after(i: int) -> list[int]:
        return [j for j in panels if (j > i if cascade else costs[j] > costs[i])]

    low = {i for i in panels if all(costs[i] - costs[j] <= estimate[i][j] + TIE for j in before(i))}
    high = {i for i in panels if all(costs[j] - costs[i] > estimate[i][j] + TIE for j in after(i))}
    return low & high


def kl_ucb_choices(problem: Problem, a: float, patients) -> list[int]:
    return play(problem, lambda n, d, t, i, j: kl_index(n, d, t, a), patients, True)


def ucb1_choices(problem: Problem, alpha: float, patients) -> list[int]:
    return play(problem, lambda n, d, t, i, j: ucb1_index(n, d, t, alpha), patients, True)


def thompson_choices(problem: Problem, key: int, patients) -> list[int]:
    return play(problem, keyed_draw(key, problem.n_panels), patients, False)


def free_thompson_choices(problem: Problem, rng: np.random.Generator, patients) -> list[int]:
    return play(problem, free_draw(rng), patients, False)
