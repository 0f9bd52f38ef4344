"""What may be typed after `python -m csmd_core`."""

from __future__ import annotations

import argparse

EXIT_CODES = """exit codes:
  0    done (check: weak dominance holds, or there is nothing to check)
  1    check only: weak dominance fails at a λ asked about, or cannot be decided
  2    bad input: the sentence on standard error says what and how to mend it
  130  interrupted (Ctrl-C): what is done so far has been printed and written
"""
_CHECK = """example:
  python -m csmd_core check heart --mode subsets --lam 0.001
  python -m csmd_core check --patients p.csv --prices t.csv --label ill --positive yes
"""
_SIMULATE = """example:
  python -m csmd_core simulate diabetes --policy kl-ucb:3 --n-patients 5000 --out run.csv
"""
_EXPERIMENT = """example:
  python -m csmd_core experiment heart --lam 0.0005 --lam 0.001 --policies thompson ucb1 full \\
      --n-repeats 50 --out results
"""
_PAPER = """example:
  python -m csmd_core paper --out paper
writes table_one.csv, for each figure …_summary.csv and …_curves.csv, and paper.html
"""


def make_parser() -> argparse.ArgumentParser:
    """Describe every command and option."""
    parser = argparse.ArgumentParser(
        prog="python -m csmd_core",
        description="Which tests should the next patient get? Cost-sensitive diagnosis without "
        "labels.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add(commands, "studies", "list the studies that come with the product", "")
    check = _add(commands, "check", "can the best panel be learnt without labels?", _CHECK)
    _add_study(check)
    check.add_argument(
        "--resamples", type=int, default=2000, help="bootstrap of the margin (default 2000)"
    )
    simulate = _add(commands, "simulate", "play one policy, patient by patient", _SIMULATE)
    _add_study(simulate)
    simulate.add_argument("--policy", default="thompson", help=_POLICY)
    _add_run(simulate, n_patients=1000)
    simulate.add_argument("--out", metavar="FILE.csv", help="write one row a patient")
    experiment = _add(commands, "experiment", "play policies many times", _EXPERIMENT)
    _add_study(experiment)
    experiment.add_argument(
        "--policies", nargs="+", default=["thompson", "kl-ucb", "ucb1"], help=_POLICY
    )
    _add_run(experiment, n_patients=10_000)
    _add_many(experiment)
    paper = _add(commands, "paper", "regenerate the paper's Table I and both figures", _PAPER)
    paper.add_argument("--n-patients", type=int, default=10_000)
    paper.add_argument("--seed", type=int, default=0)
    paper.add_argument("--shared-fees", action="store_true", help="pay each shared fee once")
    paper.add_argument(
        "--printed-costs", action="store_true", help="use Table I's costs, not the price table's"
    )
    _add_many(paper)
    return parser


_POLICY = (
    "thompson, kl-ucb, ucb1, full, cheapest, random, follow or best; with a number kl-ucb:3, "
    "ucb1:0.6"
)


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help: str, more: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ("" if help.endswith("?") else "."),
        epilog=more + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def _add_study(parser: argparse.ArgumentParser) -> None:
    study = parser.add_argument_group("the study: a bundled one, or files")
    study.add_argument("study", nargs="?", help="heart, diabetes, hepatitis or thyroid")
    study.add_argument("--grouping", default="clinic", help="how its columns make tests")
    study.add_argument("--patients", metavar="FILE", help="CSV, Excel or Parquet")
    study.add_argument("--prices", metavar="FILE", help="the price table, unless it is in FILE")
    study.add_argument("--label", metavar="COLUMN", help="the column that holds the truth")
    study.add_argument("--positive", nargs="+", default=[], help="label values that mean disease")
    panels = parser.add_argument_group("the panels")
    panels.add_argument("--mode", choices=["cascade", "subsets"], default="cascade")
    panels.add_argument("--tests", nargs="+", metavar="TEST", help="only these, in this order")
    panels.add_argument("--at-most", type=int, help="subsets of at most so many tests")
    panels.add_argument(
        "--separate-fees", action="store_true", help="pay a shared fee for every column"
    )
    panels.add_argument(
        "--lam", action="append", metavar="λ", default=[],
        help="one number, or one for each panel separated by commas; again for another λ "
        "(default: a telling one)",
    )  # fmt: skip
    reading = parser.add_argument_group("the predictions")
    reading.add_argument("--classifier", default="logistic regression")
    reading.add_argument("--folds", type=int, default=10, help="0: predict the fitted patients")
    reading.add_argument(
        "--results", metavar="RULE", nargs="?", const="the last test decides",
        help="columns are 0/1 test results already; how a panel decides: 'the last test decides', "
        "'any positive test', 'most of the tests'",
    )  # fmt: skip


def _add_run(parser: argparse.ArgumentParser, n_patients: int) -> None:
    parser.add_argument(
        "--n-patients", type=int, default=n_patients, help=f"default {n_patients:,}"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--order", choices=["replacement", "study", "shuffled"], default="replacement",
        help="draw patients with replacement, in the study's own order, or shuffled once",
    )  # fmt: skip


def _add_many(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n-repeats", type=int, default=100, help="default 100")
    parser.add_argument("--jobs", type=int, default=-1, help="cores to use (default: all)")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler, tcp://…, or 'local' for one here"
    )
    parser.add_argument("--out", metavar="FOLDER", help="write CSV files and an HTML page")
