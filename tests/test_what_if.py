"""What-ifs and what mends dominance, against brute force over prices, λ and left-out panels."""

from dataclasses import replace

import numpy as np
import pytest

from csmd_core.budget import budget_window, cohort, lam_for_budget, price_items, reprice
from csmd_core.bundled import bundled_names
from csmd_core.dominance import candidates, judge
from csmd_core.mending import mending_prices, panels_in_the_way
from csmd_core.problem import make_problem
from csmd_core.what_if import Change, at_prices, best_window, compare, tornado
from csmd_core.windows import best_windows, candidate_windows, window_at
from made import bundled_case, random_problem
from test_problem import EVIDENCE, PANELS

PROBLEM = make_problem(PANELS, EVIDENCE, 0.01)  # costs 10, 30, 100; losses 0.475, 0.425, 1.125
MODES = pytest.mark.parametrize("mode", ["cascade", "subsets"])


def test_before_and_after_by_hand():
    # The second test at 30: costs 10, 40, 110; losses 0.475, 0.525, 1.225. Panel 1 from λ = 1/120.
    table = compare(PROBLEM, [Change("Dear", {"T2": 30.0})], 1000)
    assert table["scenario"].tolist() == ["Today", "Dear"]
    assert table["best_panel"].tolist() == ["T1 + T2", "T1"]
    assert table["year_cost"].tolist() == [30_000, 10_000]
    assert table["misdiagnoses"].tolist() == [125, 375]
    assert table["lam_high"].tolist() == [pytest.approx(1 / 80), np.inf]
    assert table["lam_low"].tolist() == [0, pytest.approx(0.25 / 30)]


@MODES
@pytest.mark.parametrize("name", bundled_names())
def test_the_table_is_the_core_on_every_bundled_study(name, mode):
    panels, evidence = bundled_case(name, mode)
    problem = make_problem(panels, evidence, 8e-4)
    first = panels.tests[0].name
    change = Change("Mine", {first: 17.0}, dict.fromkeys(panels.fees, 1.0), -0.2)
    row = compare(problem, [change], 500).iloc[1]
    after = reprice(panels, {first: 17.0}, dict.fromkeys(panels.fees, 1.0), -0.2)
    again = make_problem(after, evidence, 8e-4)
    year = cohort(again, again.best, 500)
    assert row["best_panel"] == after.names[again.best]
    assert (row["year_cost"], row["misdiagnoses"]) == (year.cost, year.misdiagnoses)
    assert (row["extra_low"], row["extra_high"]) == year.extra_interval
    assert bool(row["dominance_holds"]) is judge(again).holds
    assert (row["lam_low"], row["lam_high"]) == (best_window(again).low, best_window(again).high)


def test_a_lambda_for_each_panel_goes_along_when_subsets_are_sorted_anew():
    problem = random_problem(np.random.default_rng(3), "subsets")
    lam = np.linspace(0.001, 0.002, problem.n_panels)
    problem = make_problem(problem.panels, problem.evidence, lam)
    after = at_prices(problem, Change(prices={"T2": 500.0}))
    assert after.panels.masks != problem.panels.masks
    by_mask = dict(zip(problem.panels.masks, lam, strict=True))
    assert [by_mask[m] for m in after.panels.masks] == after.lam.tolist()


def test_scenarios_of_another_study_are_left_out():
    assert len(compare(PROBLEM, [Change("Other", {"Biopsy": 3.0})], 10)) == 1


@MODES
@pytest.mark.parametrize("seed", range(10))
def test_the_tornado_reprices(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode, n_tests=4)
    table = tornado(problem, 0.3)
    reach = table[["change_low", "change_high"]].abs().max(axis=1)
    assert (reach.diff().dropna() <= 0).all()
    for row in table.itertuples():
        for factor, change, best in (
            (0.7, row.change_low, row.best_low),
            (1.3, row.change_high, row.best_high),
        ):
            after = at_prices(problem, Change(prices={row.name: row.price * factor}))
            assert after.losses.min() - problem.losses.min() == pytest.approx(change, abs=1e-7)
            assert after.panels.names[after.best] == best


def holds_at(problem, item, amount):
    key = "prices" if item.kind == "test" else "fees"
    verdict = judge(at_prices(problem, Change(**{key: {item.name: float(amount)}})))
    return verdict.holds and not verdict.vacuous


def assert_nearest(problem, n_points=60):
    table = mending_prices(problem).set_index("name")
    for item in price_items(problem.panels):
        row = table.loc[item.name]
        found = row["new_price"]
        far = 3 * problem.panels.costs.max() + 3 / problem.lam.min()
        if np.isnan(found):
            amounts = np.concatenate([np.linspace(0, 100, n_points), np.linspace(100, far, 40)])
            assert not any(holds_at(problem, item, round(a, 2)) for a in amounts)
        else:
            assert holds_at(problem, item, found)
            reach = abs(found - item.price)
            nearer = item.price + np.linspace(-reach, reach, n_points)[1:-1]
            for amount in np.round(nearer[nearer >= 0], 2):
                if abs(amount - item.price) < reach - 0.011:
                    assert not holds_at(problem, item, amount), (item.name, amount)


@MODES
@pytest.mark.parametrize("seed", range(12))
def test_the_nearest_price_that_mends_dominance(mode, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, mode)
    if not judge(problem).holds:
        assert_nearest(problem)
    lam = np.sort(rng.uniform(1e-3, 2e-2, problem.n_panels))
    each = make_problem(problem.panels, problem.evidence, lam)
    if not judge(each).holds:
        assert_nearest(each, 25)


def test_prices_that_mend_a_real_study_with_fees():
    panels, evidence = bundled_case("heart", "cascade")
    assert_nearest(make_problem(panels, evidence, 0.001))


@MODES
@pytest.mark.parametrize("seed", range(20))
def test_without_the_panels_in_the_way_it_holds_and_with_any_of_them_not(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode, n_tests=4)
    found = panels_in_the_way(problem)
    assert bool(found) is (judge(problem).holds is False)

    def without(left_out):
        masks = tuple(m for i, m in enumerate(problem.panels.masks) if i not in left_out)
        panels = replace(problem.panels, masks=masks)
        return judge(make_problem(panels, problem.evidence, problem.one_lam))

    assert without(found).holds
    for i in found:
        assert not without(set(found) - {i}).holds


@MODES
@pytest.mark.parametrize("seed", range(15))
def test_where_disagreement_alone_points_to_a_panel(mode, seed):
    problem = random_problem(np.random.default_rng(seed), mode, n_patients=60)
    windows = candidate_windows(problem.panels, problem.evidence)
    for lam in np.geomspace(1e-6, 3, 200):
        now = make_problem(problem.panels, problem.evidence, lam)
        assert {w.best for w in windows if lam in w} == set(candidates(now))


@MODES
@pytest.mark.parametrize("name", bundled_names())
def test_a_budget_gives_a_lambda_whose_best_panel_it_pays_for(name, mode):
    panels, evidence = bundled_case(name, mode)
    for money in np.geomspace(panels.costs.min(), 2 * panels.costs.max(), 25):
        for lam in (1e-6, 1e-3, 1.0):
            chosen = lam_for_budget(panels, evidence, money, lam)
            assert chosen in budget_window(panels, evidence, money)
            kept = window_at(best_windows(panels, evidence), lam)
            if kept == budget_window(panels, evidence, money):
                assert chosen == lam
