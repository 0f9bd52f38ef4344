"""The paper's experiments, and the reasons why its table and what is measured differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from csmd_core.differences import contradiction, differences, differences_of
from csmd_core.dominance import judge
from csmd_core.experiment import experiment, run_seed
from csmd_core.faults import BadInput
from csmd_core.paper import (
    CASES,
    PAPER_PRICING,
    PRINTED,
    Pricing,
    paper_evidence,
    paper_panels,
    table_one,
)
from csmd_core.policies import LEARNING, POLICIES
from csmd_core.reproduce import (
    FAILS,
    HOLDS,
    Settings,
    paper_experiments,
    paper_parts,
    paper_table,
    subset_lams,
)
from csmd_core.simulation import simulate

SMALL = Settings(n_patients=300, n_repeats=4, seed=3, n_resamples=100)


@pytest.fixture(scope="module")
def small():
    return paper_experiments(SMALL)


def test_the_settings_are_the_paper_s():
    settings = Settings()
    assert (settings.n_patients, settings.n_repeats) == (10_000, 100)
    assert settings.pricing == PAPER_PRICING == Pricing(shared_fees=False, printed_costs=False)


def test_the_parts_are_both_figures():
    parts = paper_parts()
    assert [len(part.problems) for part in parts.values()] == [10, 2, 4]
    assert next(iter(parts["cascades"].problems)) == "Diabetes, case 1"
    assert parts["policies"].policies == POLICIES
    assert {p.n_panels for p in parts["subsets"].problems.values()} == {7}
    assert {p.n_panels for p in parts["cascades"].problems.values()} == {3}
    # 10 × 3 + 2 × 8 + 4 × 3 runs in each repeat
    assert sum(part.n_runs(Settings()) for part in parts.values()) == 5800


def test_every_run_is_there_and_can_be_played_again(small):
    assert not small.stopped
    assert small.n_done == small.n_total == 58 * 4
    for name, result in small.results.items():
        row = result.runs.iloc[-1]
        problem = small.parts[name].problems[row["problem"]]
        run = simulate(problem, POLICIES[row["policy"]], 300, int(row["seed"]))
        assert run.regret[-1] == pytest.approx(row["regret"])
        assert row["seed"] == run_seed(3, row["problem"], 3)


def test_the_comparison_has_the_cascade_s_own_runs(small):
    """Learning policies on case 1 appear in both parts, with the same patients."""
    both = small.results["policies"].runs.merge(
        small.results["cascades"].runs, on=["problem", "policy", "repeat"]
    )
    assert len(both) == 2 * len(LEARNING) * 4
    np.testing.assert_array_equal(both["regret_x"], both["regret_y"])


def test_it_is_the_plain_experiment(small):
    part = small.parts["subsets"]
    alone = experiment(part.problems, part.policies, 300, 4, 3, n_jobs=1)
    pd.testing.assert_frame_equal(alone.curves, small.results["subsets"].curves, check_exact=True)


def test_progress_counts_over_all_parts_and_stops():
    seen = []

    def stop_late(done: int, total: int) -> bool:
        seen.append((done, total))
        return done <= 30 * 4  # into the second part

    stopped = paper_experiments(SMALL, stop_late)
    assert stopped.stopped
    assert 30 * 4 < stopped.n_done < stopped.n_total == 58 * 4
    assert list(stopped.results) == ["cascades", "policies"]
    counts = [done for done, _ in seen]
    assert counts == sorted(counts)
    assert {total for _, total in seen} == {58 * 4}


@pytest.mark.parametrize("study", ["diabetes", "heart"])
@pytest.mark.parametrize("pricing", [Pricing(), Pricing(True), Pricing(printed_costs=True)])
def test_subset_lams_do_what_they_say(study, pricing):
    panels, evidence = paper_panels(study, pricing, "subsets"), paper_evidence(study, "subsets")
    lams = subset_lams(panels, evidence)
    assert set(lams) == {HOLDS, FAILS}
    for name, problem in paper_parts(Settings(pricing=pricing))["subsets"].problems.items():
        verdict = judge(problem)
        assert not verdict.vacuous
        assert verdict.holds == (HOLDS in name)


def test_shared_fees_and_printed_costs_change_the_prices():
    heart = [paper_panels("heart", pricing).costs[-1] for pricing in (Pricing(), Pricing(True))]
    assert heart[1] < heart[0]
    fig3 = paper_panels("diabetes", Pricing(printed_costs=True), "subsets")
    assert sorted(fig3.costs.tolist()) == [4, 17, 21, 25, 29, 42, 46]


def test_bad_settings_get_a_sentence():
    with pytest.raises(BadInput, match="must be 1 or more"):
        paper_experiments(Settings(n_repeats=0))


def test_the_contradiction_s_arithmetic():
    found = contradiction()
    assert (found.holds_below, found.fails_from) == pytest.approx((0.0588, 0.195))
    assert found.holds_arithmetic == "0.0038 × 46 − 0.004 × 29 = 0.0588"
    assert found.fails_arithmetic == "0.0055 × 46 − 0.002 × 29 = 0.1950"
    assert found.measured == pytest.approx(8 / 768)


def test_every_difference_in_table_one_is_explained():
    table = paper_table(SMALL)
    pd.testing.assert_frame_equal(table, table_one(n_resamples=100, seed=3))
    for row in table.itertuples():
        told = {d.quantity for d in differences_of(row.study, row.case)}
        assert (row.holds != row.holds_printed) == ("weak dominance" in told)
        rounded = tuple(round(cost) for cost in row.cost)
        assert (rounded != row.cost_printed) == ("costs" in told)
        exact = np.allclose(row.error_rate, row.error_rate_printed, atol=1e-4)
        assert exact != ("error rates" in told)


def test_differences_tell_what_is_measured():
    told = {(d.study, d.quantity, d.cases): d for d in differences()}
    assert told["diabetes", "costs", (1, 2, 3, 4, 5)].printed == "4, 29, 46"
    assert told["diabetes", "costs", (1, 2, 3, 4, 5)].measured == "6, 23.61, 46.39"
    assert told["heart", "error rates", (1, 2, 3, 4, 5)].printed == "0.29292"
    assert told["heart", "error rates", (1, 2, 3, 4, 5)].measured == "0.23906"
    assert told["heart", "weak dominance", (5,)].measured == "holds, margin +0.008"
    assert 2 < judge(paper_parts()["cascades"].problems["Heart, case 5"]).margin * 297 < 3
    assert "0.1344, 0.0397, 0.1623" in told["heart", "weak dominance", (5,)].why


def test_heart_s_best_panels_are_the_same_at_the_printed_error_rates():
    for case in CASES:
        printed = PRINTED[case.study]
        losses = np.array(case.lam) * printed.costs + printed.error_rates
        assert int(losses.argmin()) + 1 == case.best
