"""One contract over all policies, and bad parameters."""

from __future__ import annotations

import numpy as np
import pytest

from csmd_core.faults import BadInput
from csmd_core.policies import COMPARATORS, LEARNING, PAPER_NAMES, POLICIES, Policy, kl_ucb, ucb1


@pytest.mark.parametrize("name", POLICIES)
def test_names_are_unique_and_lead_back(name):
    assert POLICIES[name].name == name


def test_three_learn_and_five_compare():
    assert [p.kind for p in LEARNING.values()] == ["thompson", "kl-ucb", "ucb1"]
    assert all(p.learns for p in LEARNING.values())
    assert not any(p.learns for p in COMPARATORS.values())
    assert {p.kind for p in POLICIES.values() if p.needs_labels} == {"follow", "best"}
    assert len(PAPER_NAMES) == 6


@pytest.mark.parametrize("a", [-0.1, np.nan, np.inf])
def test_kl_ucb_needs_a_of_0_or_more(a):
    with pytest.raises(BadInput, match="must be 0 or more"):
        kl_ucb(a)


@pytest.mark.parametrize("alpha", [0.5, 0, -1, np.nan, np.inf])
def test_ucb1_needs_alpha_above_a_half(alpha):
    with pytest.raises(BadInput, match=r"must be above 0\.5"):
        ucb1(alpha)


def test_unknown_policies_and_stray_numbers_are_told():
    with pytest.raises(BadInput, match=r"'greedy' does not exist.*thompson, kl-ucb"):
        Policy("greedy")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="takes no number"):
        Policy("thompson", 2.0)


def test_an_unusual_number_is_in_the_name():
    assert ucb1(2).name == "UCB1 (α = 2)"
    assert kl_ucb(0).name == "kl-UCB"
