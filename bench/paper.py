"""How fast the paper's experiments run: `python -m bench.paper`."""

from __future__ import annotations

import os
import time

from csmd_core.engine import warm_up
from csmd_core.experiment import experiment
from csmd_core.figures.experiments import curves_figure
from csmd_core.reproduce import Settings, paper_experiments, paper_parts, paper_table
from csmd_core.simulation import simulate
from csmd_core.summary import summary_table


def timed(work):
    """Run once; return the result and the seconds it took."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def main() -> None:
    settings = Settings()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run")
    _, compiling = timed(warm_up)
    parts, fitting = timed(paper_parts)
    print(f"engine ready in {compiling:.2f} s, panels of both studies fitted in {fitting:.2f} s")
    cascades = parts["cascades"]
    for policy in cascades.policies.values():  # compile what scores a run
        simulate(next(iter(cascades.problems.values())), policy, 10)
    experiment(cascades.problems, cascades.policies, 10, 1)

    def figure_two():
        return experiment(cascades.problems, cascades.policies, 10_000, 100)

    cpu = time.process_time()
    result, spent = timed(figure_two)
    cpu = time.process_time() - cpu
    print(
        f"10 instances x 3 policies x 100 repeats x 10,000 patients: {spent:.2f} s; "
        f"{cpu:.2f} s of CPU, {1e9 * cpu / (result.n_done * 10_000):.0f} ns a patient"
    )
    done, spent = timed(lambda: paper_experiments(settings))
    print(f"all of the paper's experiments, {done.n_done:,} runs: {spent:.2f} s")
    _, spent = timed(lambda: paper_table(settings))
    print(f"Table I with {settings.n_resamples:,} resamples a case: {spent:.2f} s")

    def drawn():
        for name, part in done.results.items():
            summary_table(part, done.parts[name].problems)
            curves_figure(part.curves)

    print(f"summaries and three figures: {timed(drawn)[1]:.2f} s")


if __name__ == "__main__":
    main()
