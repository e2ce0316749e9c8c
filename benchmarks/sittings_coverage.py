"""How often the interval "to be repeated" holds, by how many sittings there are and how far they differ.

    python benchmarks/sittings_coverage.py [--studies 20000] [--truths 0.01]

The first sitting is a study as the verbs make it by default (8 to 12 starts, until ±1 %); every further one takes as
many starts as it did. The truth is the mean over all sittings that there might be. With one sitting or two the interval
relies on the shipped spread between sittings of its kind, which is one number for everybody, while the true spread is
none, the shipped one, and the upper ends of its one-sided 80 % and its two-sided 95 % interval (of a χ² with its
degrees of freedom). From three on it is each of the columns. Last come two sittings whose true spread is several times
the shipped one: how often they contradict it, and how often the interval would hold if it went by it all the same. The
seed is fixed.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np
from scipy.special import stdtrit

from burnish.catalogue.between import shipped
from burnish.model.sittings import Spread
from burnish.statistics.boundaries import Floats
from burnish.statistics.distributions import chi2_quantile
from burnish.statistics.hosts import tails
from burnish.statistics.sequential import Rule, decide
from burnish.statistics.sittings import ENOUGH, half_width, spread_half

SEED = 61
RULE = Rule(cap=12, precision=0.01)
SD_START = 0.0076
SD_COMMITTING = 0.0208
"""Of starts, in capacity, of oltp_update_non_index (`committing.toml` of the catalogue); other loads that commit
scatter by 1.7 to 6.4 %."""
KINDS = {
    "with a profile": (shipped("mariadb").profiled, SD_START),
    "without": (shipped("mariadb").alike, SD_START),
    "without, in turn on loads that commit": (shipped("mariadb").committing, SD_COMMITTING),
}
NONE = Spread(0.0, math.inf, "")
SPREADS = (0.0, 0.0035, 0.0085, 0.0113, 0.0175, 0.021)
SITTINGS = (3, 4, 5, 6)
TRUTHS = (0.0, 0.01, 0.05)
MULTIPLES = (1, 2, 3, 5, 10)
COSTED = (0.0035, 0.0064, 0.009, 0.0113, 0.015, 0.021)
START_S = 15.5
"""Seconds of a start of three pairs (docs/results/verdict-figures.md)."""


def upper(spread: Spread, level: float) -> float:
    """The one-sided upper limit of a true spread that was estimated with these degrees of freedom."""
    return spread.sd * math.sqrt(spread.df / chi2_quantile(1.0 - level, spread.df))


def moments(
    rng: np.random.Generator, studies: int, sittings: int, truth: float, spread: float, scatter: float
) -> list[Floats]:
    """Means, variances and numbers of starts of every sitting, each of shape (studies, sittings)."""
    centres = truth + rng.normal(0.0, spread, (studies, sittings))
    readings = centres[:, :, None] + rng.normal(0.0, scatter, (studies, sittings, RULE.cap))
    decided = decide(readings[:, 0, :], RULE)
    taken = np.where(decided.starts > 0, decided.starts, RULE.cap)[:, None]
    kept = (np.arange(RULE.cap) < taken)[:, None, :]
    mean = np.where(kept, readings, 0.0).sum(axis=2) / taken
    squares = np.where(kept, (readings - mean[:, :, None]) ** 2, 0.0).sum(axis=2)
    return [mean, squares / (taken - 1), np.broadcast_to(taken, mean.shape).astype(float)]


def coverage(
    studies: int, sittings: int, truth: float, spread: float, known: Spread, scatter: float = SD_START
) -> tuple[float, float]:
    """Share of studies whose interval, with what is `known` of the spread, holds `truth`; the median half-width."""
    rng = np.random.default_rng((SEED, sittings, round(truth * 1e6), round(spread * 1e6)))
    means, variances, counts = moments(rng, studies, sittings, truth, spread, scatter)
    within, _ = tails(RULE)
    half = half_width(means, variances, counts, within, RULE.alpha / 2, known)
    held = np.abs(means.mean(axis=1) - truth) <= half
    return float(held.mean()), float(np.median(half))


def contradicted(studies: int, spread: float, known: Spread, scatter: float) -> tuple[float, float, float]:
    """Of two sittings: share that contradict the spread they assume, coverage, and what it would be if none did."""
    rng = np.random.default_rng((SEED, 2, round(spread * 1e6)))
    means, variances, counts = moments(rng, studies, 2, 0.0, spread, scatter)
    within, _ = tails(RULE)
    half = half_width(means, variances, counts, within, RULE.alpha / 2, known)
    starts = half_width(means, variances, counts, within, RULE.alpha / 2, NONE)
    believed = np.hypot(starts, spread_half(known, RULE.alpha / 2, 2))
    off = np.abs(means.mean(axis=1))
    return float((half > believed * 1.000001).mean()), float((off <= half).mean()), float((off <= believed).mean())


def print_contradicted(studies: int) -> None:
    """Prints what becomes of two sittings whose true spread is several times what they assume."""
    print("\nTwo sittings: coverage (without the check of one by the other; share that contradict one another)\n")
    print("| figure assumed | " + " | ".join(f"true spread {times} times it" for times in MULTIPLES) + " |")
    print("| --- " * (len(MULTIPLES) + 1) + "|")
    for kind, (known, scatter) in KINDS.items():
        found = [contradicted(studies, times * known.sd, known, scatter) for times in MULTIPLES]
        texts = (f"{100 * held:.1f} % ({100 * believed:.1f} %; {100 * share:.0f} %)" for share, held, believed in found)
        print(f"| {100 * known.sd:.2f} %, {kind} | {' | '.join(texts)} |", flush=True)


def cost(spread: float, starts: int, sittings: int) -> float:
    """Expected half-width of the interval "to be repeated" with so many starts in each of so many sittings.

    With one or two the spread has the degrees of freedom of the shipped figure next to it.
    """
    df = min((known for known, _ in KINDS.values()), key=lambda known: abs(known.sd - spread)).df
    error = math.hypot(spread, SD_START / math.sqrt(starts))
    if sittings < ENOUGH:
        rest = spread_half(Spread(spread, df, ""), RULE.alpha / 2, sittings)
        return math.hypot(
            -float(stdtrit(sittings * (starts - 1), 0.025)) * SD_START / math.sqrt(starts * sittings), rest
        )
    return -float(stdtrit(sittings - 1, 0.025)) * error / math.sqrt(sittings)


def print_costs() -> None:
    """Prints what an interval costs in sittings and minutes of bench time."""
    print(f"\nExpected half-width with 8 starts of {START_S:g} s in each sitting\n")
    print("| sittings | bench minutes | " + " | ".join(f"spread {100 * spread:.2f} %" for spread in COSTED) + " |")
    print("| --- " * (len(COSTED) + 2) + "|")
    for sittings in (1, 2, 3, 4, 5, 6, 8, 12):
        widths = " | ".join(f"±{100 * cost(spread, 8, sittings):.2f} %" for spread in COSTED)
        print(f"| {sittings} | {sittings * 8 * START_S / 60:.0f} | {widths} |")


def main(words: list[str]) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=20_000)
    parser.add_argument("--truths", type=float, nargs="+", default=TRUTHS, help="true log-ratios")
    asked = parser.parse_args(words)
    for truth in asked.truths:
        print(f"\nTrue ratio {math.exp(truth):.3f}: coverage of the 95 % interval (median half-width)\n")
        print("| sittings, figure assumed | true spread 0 | as assumed | upper end at 80 % | upper end at 97.5 % |")
        print("| --- " * 5 + "|")
        for sittings in range(1, ENOUGH):
            for kind, (known, scatter) in KINDS.items():
                spreads = (0.0, known.sd, upper(known, 0.8), upper(known, 0.975))
                cells = [coverage(asked.studies, sittings, truth, spread, known, scatter) for spread in spreads]
                texts = (
                    f"{100 * spread:.2f} %: {100 * held:.1f} % (±{100 * half:.2f} %)"
                    for spread, (held, half) in zip(spreads, cells, strict=True)
                )
                print(f"| {sittings}, {kind} | {' | '.join(texts)} |", flush=True)
        columns = [f"spread {100 * spread:.2f} %" for spread in SPREADS]
        print(f"\n| sittings | {' | '.join(columns)} |")
        print("| --- " * (len(columns) + 1) + "|")
        for sittings in SITTINGS:
            known, _ = KINDS["without"]
            cells = [coverage(asked.studies, sittings, truth, spread, known) for spread in SPREADS]
            texts = (f"{100 * held:.1f} % (±{100 * half:.2f} %)" for held, half in cells)
            print(f"| {sittings} | {' | '.join(texts)} |", flush=True)
    print_contradicted(asked.studies)
    print_costs()


if __name__ == "__main__":
    main(sys.argv[1:])
