"""How often the interval of merged records holds, by how many hosts there are and how their noise differs.

    python benchmarks/merged_coverage.py [--studies 20000]

Each host's piece is a study of its own that stops when it sees something (at most 12 starts, the usual looks); the
pieces are then looked at together, as `burnish record merge` does. The noise is normal, since what is in question is
hosts of unequal noise and pieces of unequal length; other noises are in statistics_validation.py. The seed is fixed.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from burnish.statistics.boundaries import Floats
from burnish.statistics.hosts import half_width, tails
from burnish.statistics.sequential import Rule, decide

SEED = 53
RULES = {"stops when it sees something": Rule(cap=12), "stops at ±0.5 %": Rule(cap=12, precision=0.005)}
HOSTS = {
    "1 host": (0.0076,),
    "2 hosts, equal noise": (0.0076, 0.0076),
    "2 hosts, noise 1 : 5": (0.003, 0.015),
    "2 hosts, noise 1 : 20": (0.001, 0.02),
    "3 hosts, noise 1 : 2 : 5": (0.003, 0.006, 0.015),
    "6 hosts, noise 1 to 5": (0.003, 0.004, 0.006, 0.008, 0.012, 0.015),
}
TRUTHS = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.05)


def pieces(rng: np.random.Generator, truths: Floats, sd: float, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and number of starts of one host's pieces; `truths` has one for each study."""
    readings = truths[:, None] + rng.normal(0.0, sd, (truths.size, rule.cap))
    decided = decide(readings, rule)
    taken = np.where(decided.starts > 0, decided.starts, rule.cap)[:, None]
    kept = np.arange(rule.cap) < taken
    mean = np.where(kept, readings, 0.0).sum(axis=1, keepdims=True) / taken
    squares = np.where(kept, (readings - mean) ** 2, 0.0).sum(axis=1, keepdims=True)
    return mean[:, 0], (squares / (taken - 1))[:, 0], taken[:, 0].astype(float)


def coverage(
    studies: int, sds: tuple[float, ...], truth: float, rule: Rule, between: float = 0.0
) -> tuple[float, float]:
    """Share of studies whose merged interval holds `truth`, and the intervals' median half-width.

    Args:
        studies: how many.
        sds: each host's standard deviation of a start's reading.
        truth: mean log-ratio over hosts.
        rule: of each piece.
        between: standard deviation of the true log-ratios between hosts.
    """
    rng = np.random.default_rng((SEED, len(sds), round(truth * 1e6)))
    hosts = [pieces(rng, truth + rng.normal(0.0, between, studies), sd, rule) for sd in sds]
    means, variances, counts = (np.stack([host[part] for host in hosts], axis=1) for part in range(3))
    half = half_width(means, variances, counts, tails(rule)[0])
    return float((np.abs(means.mean(axis=1) - truth) <= half).mean()), float(np.median(half))


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=20_000)
    studies = parser.parse_args().studies
    error = 1.96 * math.sqrt(0.95 * 0.05 / studies)
    print(
        f"Each figure is from {studies:,} simulated merges (seed {SEED}); a share of 95 % is exact to ±{error:.2%}.\n"
    )
    for what, rule in RULES.items():
        print(f"**Coverage where each piece {what}**, by the true difference.\n")
        print("| hosts | " + " | ".join(f"{truth:.2%}" for truth in TRUTHS) + " | median half-width at 0 |")
        print("| --- |" + " --- |" * (len(TRUTHS) + 1))
        for name, sds in HOSTS.items():
            found = [coverage(studies, sds, truth, rule) for truth in TRUTHS]
            print(f"| {name} | " + " | ".join(f"{share:.1%}" for share, _ in found) + f" | ±{found[0][1]:.2%} |")
        print()
    print("**Hosts that differ** (by 3 % between hosts, about 10 %): coverage of what hosts like these have.\n")
    for name, sds in HOSTS.items():
        if len(sds) > 2:
            share, half = coverage(studies, sds, 0.1, Rule(cap=12), 0.03)
            print(f"* {name}: {share:.1%}, median half-width ±{half:.2%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
