"""Panels: hand-made costs, the paper's costs, and what must be true of any prices."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csmd_core.faults import BadInput
from csmd_core.panels import cascade, full_price, n_subsets, subsets
from csmd_core.study import Test

DRAW = {"draw": 2.0}
BLOOD = Test("Blood", ("hb",), 5.0, ("draw",))
LIPIDS = Test("Lipids", ("ldl", "hdl"), 8.0, ("draw", "draw"))
SCAN = Test("Scan", ("ct",), 7.0)
TESTS = [BLOOD, LIPIDS, SCAN]

prices = st.integers(0, 500).map(lambda cents: cents / 100)
some_tests = st.lists(
    st.tuples(prices, st.sets(st.sampled_from(["a", "b"]))), min_size=1, max_size=5
).map(lambda rows: [Test(str(k), (f"c{k}",), p, tuple(f)) for k, (p, f) in enumerate(rows)])
some_fees = st.fixed_dictionaries({"a": prices, "b": prices})


def test_a_cascade_pays_each_shared_fee_once():
    panels = cascade(TESTS, DRAW)
    assert panels.costs.tolist() == [7, 15, 22]
    assert panels.names == ("Blood", "Blood + Lipids", "Blood + Lipids + Scan")


def test_without_sharing_every_column_pays():
    assert full_price(LIPIDS, DRAW) == 12
    assert cascade(TESTS, DRAW, shared_fees=False).costs.tolist() == [7, 19, 26]


def test_subsets_are_sorted_by_cost_then_fewer_tests_then_order():
    panels = subsets(TESTS, DRAW)
    assert list(zip(panels.names, panels.costs.tolist(), strict=True)) == [
        ("Blood", 7), ("Scan", 7), ("Lipids", 10), ("Blood + Scan", 14), ("Blood + Lipids", 15),
        ("Lipids + Scan", 17), ("Blood + Lipids + Scan", 22),
    ]  # fmt: skip


def test_subsets_of_at_most_two_tests_or_by_name():
    assert len(subsets(TESTS, DRAW, at_most=2)) == 6
    chosen = subsets(TESTS, DRAW, chosen=[["Scan", "Blood"], ["Lipids"], ["Blood", "Scan"]])
    assert chosen.names == ("Lipids", "Blood + Scan")


def test_a_panel_contains_the_panels_of_fewer_of_its_tests():
    panels = subsets(TESTS, DRAW, chosen=[["Blood"], ["Scan"], ["Blood", "Lipids"]])
    assert panels.contains.tolist() == [
        [True, False, False], [False, True, False], [True, False, True],
    ]  # fmt: skip


def test_new_prices_sort_subsets_anew_and_leave_a_cascade_in_order():
    dear = [Test("Blood", ("hb",), 50.0, ("draw",)), LIPIDS, SCAN]
    assert subsets(TESTS, DRAW).repriced(dear, DRAW).names[:2] == ("Scan", "Lipids")
    assert cascade(TESTS, DRAW).repriced(dear, DRAW).names == cascade(TESTS, DRAW).names


def test_faults():
    with pytest.raises(BadInput, match="All subsets of 13 tests would be 8,191 panels"):
        subsets([Test(str(k), (str(k),), 1.0) for k in range(13)])
    with pytest.raises(BadInput, match="do not exist: Biopsy"):
        subsets(TESTS, DRAW, chosen=[["Biopsy"]])
    with pytest.raises(BadInput, match="are empty"):
        subsets(TESTS, DRAW, at_most=0)
    with pytest.raises(BadInput, match="list of tests is empty"):
        cascade([])


@given(some_tests, some_fees)
def test_a_further_test_never_lowers_a_cost(tests, fees):
    panels = subsets(tests, fees)
    grows = panels.costs[:, None] >= panels.costs[None, :]
    assert grows[panels.contains].all()


@given(some_tests, some_fees)
def test_sharing_fees_never_raises_a_cost(tests, fees):
    shared, alone = cascade(tests, fees), cascade(tests, fees, shared_fees=False)
    assert (shared.costs <= alone.costs).all()


def test_small_subsets_of_many_tests_are_made_and_too_many_are_not():
    many = [Test(f"T{k}", (f"c{k}",), 1.0) for k in range(20)]
    pairs = subsets(many, at_most=2)
    assert len(pairs) == n_subsets(20, 2) == 210
    assert max(mask.bit_count() for mask in pairs.masks) == 2
    with pytest.raises(BadInput, match="6,195 panels"):
        subsets(many, at_most=4)


def test_short_names_say_what_a_cascade_adds():
    assert cascade(TESTS, DRAW).short_names == ("Blood", "+ Lipids", "+ Scan")
    assert subsets(TESTS, DRAW).short_names == subsets(TESTS, DRAW).names
