"""Validates the statistics by simulation and writes the tables into docs/METHODOLOGY.md.

    python benchmarks/statistics_validation.py [--repetitions 50000] [--recorded starts.json] [--no-write]

`--recorded` takes A/A starts of a real host as JSON, a list of starts, each a list of its pairs' log-ratios, and
adds a line with noise drawn from them. The seed is fixed: the same version writes the same tables.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from burnish.statistics import boundaries, noise, simulation
from burnish.statistics.boundaries import Floats
from burnish.statistics.multiplicity import winner_overstatement
from burnish.statistics.noise import Noise, Recorded, Slots
from burnish.statistics.sequential import Rule
from burnish.statistics.simulation import Calibration

DOCUMENT = Path(__file__).parent.parent / "docs" / "METHODOLOGY.md"
BEGIN, END = "<!-- simulation: begin -->", "<!-- simulation: end -->"
SEED = 41

SD_START, SD_PAIR, PAIRS = 0.006, 0.007, 3
ALONE = 1e-9  # a delta that no interval fits into: nothing stops early as equivalent
RULE = Rule(cap=12)
CANARIES = 2  # as many as a study takes for each load (`burnish.study.trials.trials.CANARIES`)


def percent(share: float, digits: int = 1) -> str:
    return f"{100.0 * share:.{digits}f} %"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


class Bench:
    """Draws studies; every table has a random stream of its own, so that none depends on the others."""

    def __init__(self, repetitions: int) -> None:
        self.repetitions = repetitions

    def rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng((SEED, stream))

    def noisy(
        self,
        stream: int,
        kind: Noise,
        slots: Slots,
        *,
        effect: float = 0.0,
        starts: int = 12,
        sd_start: float = SD_START,
    ) -> Floats:
        return noise.readings(
            self.rng(stream),
            kind,
            studies=self.repetitions,
            starts=starts,
            pairs=PAIRS,
            effect=effect,
            sd_start=sd_start,
            sd_pair=SD_PAIR,
            slots=slots,
        )

    def normal(self, stream: int, sd: float, effect: float = 0.0, starts: int = 12) -> Floats:
        return self.rng(stream).normal(effect, sd, (self.repetitions, starts))


def constants() -> str:
    rows = []
    for cap in (8, 12, 20, 30):
        rule = Rule(cap=cap)
        rows.append(
            [
                str(cap),
                ", ".join(map(str, rule.looks)),
                f"{boundaries.superiority_level(rule.looks, 0.05):.4f}",
                f"{boundaries.superiority_level(rule.looks, 0.04):.4f}",
                f"{boundaries.equivalence_level(rule.equivalence_looks, 0.05):.4f}",
                f"{boundaries.width_level(8, cap, 0.05):.4f}",
            ]
        )
    lane = ", ".join(f"{boundaries.fast_factor(n, 0.01):.2f} ({n} A/A starts)" for n in (12, 20, 30))
    head = ["cap", "looks at", "p'", "p' with the fast lane", "TOST p' (one-sided)", "level of a precision study"]
    return (
        "**Constants.** Nominal levels at which each look tests, so that a whole study errs in 5 %.\n\n"
        + table(head, rows)
        + f"\n\nFast lane: the mean must lie this many shrunk standard errors from 0: {lane}."
    )


def all_noises(bench: Bench, recorded: Recorded | None) -> list[tuple[str, Slots, Floats]]:
    kinds = [
        (kind.name, how, bench.noisy(1, kind, how)) for kind in noise.NOISES for how in (Slots.RANDOM, Slots.BALANCED)
    ]
    if recorded is not None:
        name = f"recorded ({len(recorded.pairs)} A/A starts)"
        drawn = recorded.readings(bench.rng(2), studies=bench.repetitions, starts=12, effect=0.0)
        kinds.append((name, Slots.RANDOM, drawn))
    return kinds


def validity(kinds: Sequence[tuple[str, Slots, Floats]]) -> str:
    rows = []
    alone = Rule(cap=12, delta=ALONE)
    for name, slots, readings in kinds:
        fixed = [simulation.rates(readings[:, :n], 0.0, Rule.fixed(n, delta=ALONE)).covered for n in (3, 4, 6, 8, 12)]
        usual = simulation.rates(readings, 0.0, RULE)
        different = simulation.rates(readings, 0.0, alone).different
        rows.append([name, slots.value, *map(percent, fixed), percent(different), percent(usual.covered)])
    head = [
        "noise",
        "slots",
        *(f"coverage, {n} starts" for n in (3, 4, 6, 8, 12)),
        "false positives, sequential",
        "coverage after stopping",
    ]
    return (
        "**Two equal sides under noise of many kinds** (start 0.6 %, pair 0.7 %, 3 pairs; cap 12). Coverage is of "
        "the 95 % interval; false positives are all calls of faster or slower over the whole study, with nothing "
        "stopped early as equivalent.\n\n" + table(head, rows)
    )


def slots(bench: Bench) -> str:
    kinds = [kind for kind in noise.NOISES if kind.name.startswith(("normal", "auto", "drift", "one slot"))]
    alone = Rule(cap=12, delta=ALONE)

    def called(kind: Noise, how: Slots, sd_start: float = SD_START) -> str:
        return percent(simulation.rates(bench.noisy(3, kind, how, sd_start=sd_start), 0.0, alone).different)

    rows = [[kind.name, *(called(kind, how) for how in Slots)] for kind in kinds]
    rows.append(["one slot better by 2 %", *(called(noise.STRONG_OFFSET, how, 0.02) for how in Slots)])
    return (
        "**What the slots do**: false positives of sequential studies of equal sides (cap 12), by how the builds "
        "are put into slots.\n\n"
        + table(["noise", "fixed", "random (coin per start)", "balanced (blocks of two)"], rows)
        + f"\n\nWhere only one of the two builds suffers skewed noise, no slot can help: "
        f"{called(noise.ONE_SIDED, Slots.BALANCED)} false positives."
    )


def stopping(bench: Bench) -> str:
    effects = (0.0, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.05)
    rows = []
    for stream, sd in enumerate((0.004, 0.0076, 0.015), start=10):
        covered = [
            simulation.rates(bench.normal(stream, sd, math.log1p(effect)), math.log1p(effect), RULE).covered
            for effect in effects
        ]
        rows.append([percent(sd, 2), *(percent(share) for share in covered), percent(min(covered))])
    head = ["spread of a start", *(f"truth {percent(effect, 2)}" for effect in effects), "least"]
    return (
        "**Coverage of the printed interval after stopping** (cap 12; the interval is that of the verdict: 95 %, "
        "or 90 % where it is equivalent).\n\n" + table(head, rows)
    )


def equivalence(bench: Bench) -> str:
    rows = []
    for stream, sd in enumerate((0.002, 0.004, 0.0076, 0.015), start=20):
        equal = simulation.rates(bench.normal(stream, sd), 0.0, RULE)
        truth = math.log(1.01)
        apart = simulation.rates(bench.normal(stream, sd, truth), truth, RULE)
        rows.append(
            [
                percent(sd, 2),
                percent(equal.equivalent),
                f"{equal.mean_starts:.1f}",
                percent(apart.equivalent),
                percent(apart.different),
            ]
        )
    head = [
        "spread of a start",
        "equal: called equivalent",
        "mean starts",
        "1 % apart: wrongly called equivalent",
        "1 % apart: called different",
    ]
    return "**Equivalence within ±1 %** (cap 12).\n\n" + table(head, rows)


def power(bench: Bench) -> str:
    sd = float(bench.noisy(30, noise.NOISES[0], Slots.BALANCED).std())
    host = Calibration(starts=12, sd=sd, canaries=CANARIES, sd_today=sd)
    rows = []
    for effect in (0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1):
        truth = math.log1p(effect)
        readings = bench.noisy(30, noise.NOISES[0], Slots.BALANCED, effect=truth)
        row = [percent(effect, 2)]
        for prior in (None, host.draw(bench.rng(31), bench.repetitions)):
            found = simulation.rates(readings, truth, RULE, prior, host.starts)
            row += [percent(found.different), f"{found.mean_starts:.1f}", percent(found.within_three)]
        more = bench.noisy(32, noise.NOISES[0], Slots.BALANCED, effect=truth, starts=20)
        found = simulation.rates(more, truth, Rule(cap=20, delta=0.005))
        rows.append([*row, percent(found.different), f"{found.mean_starts:.1f}"])
    head = ["true difference"]
    for lane in ("", ", calibrated"):
        head += [f"called different{lane}", f"mean starts{lane}", f"decided within 3{lane}"]
    head += ["called different, cap 20, delta 0.5 %", "mean starts, cap 20"]
    return (
        f"**Power** (spread of a start's reading {percent(sd, 2)}: start 0.6 %, pair 0.7 %, 3 pairs; cap 12, "
        f"equivalence within ±1 %; calibrated: by 12 A/A starts, with {CANARIES} canaries).\n\n" + table(head, rows)
    )


def fast_lane(bench: Bench) -> str:
    readings = bench.normal(40, 0.0076)
    rule = Rule(cap=12, delta=ALONE)
    rows = []
    for misfit in (0.7, 1.0, 1.5, 2.0, 3.0, 4.0):
        row = [f"{misfit:g}"]
        for canaries in (0, CANARIES, 4):
            host = Calibration(starts=12, sd=0.0076 / misfit, canaries=canaries, sd_today=0.0076)
            prior = host.draw(bench.rng(41), bench.repetitions)
            row.append(percent(simulation.rates(readings, 0.0, rule, prior, 12).different))
            if canaries:
                row.append(percent(simulation.fast_lane_share(prior)))
        rows.append(row)
    head = ["today's spread / calibrated", "false positives without canaries"]
    head += [text for count in (CANARIES, 4) for text in (f"with {count} canaries", "fast lane left on by them")]
    return (
        "**The fast lane on a host that is noisier than it was calibrated** (equal sides, 12 A/A starts).\n\n"
        + table(head, rows)
    )


def naive(bench: Bench) -> str:
    readings = bench.normal(50, 0.0076, starts=30)
    rows = [
        ["one t test after 12 starts", percent(simulation.naive_rates(readings, (12,)))],
        ["a t test at each of the seven looks up to 12", percent(simulation.naive_rates(readings, RULE.looks))],
        ["a t test after every start from 3 to 12", percent(simulation.naive_rates(readings, tuple(range(3, 13))))],
        ["a t test after every start from 3 to 30", percent(simulation.naive_rates(readings, tuple(range(3, 31))))],
    ]
    for cap in (12, 30):
        found = simulation.rates(readings[:, :cap], 0.0, Rule(cap=cap, delta=ALONE))
        rows.append([f"Burnish's boundary, cap {cap}", percent(found.different)])
    return "**Looking again and again** at equal sides.\n\n" + table(["how", "false positives"], rows)


def widths(bench: Bench) -> str:
    readings = bench.normal(60, 0.0076, starts=40)
    rows = []
    for wanted in (0.003, 0.004, 0.005, 0.006):
        row = [f"±{percent(wanted)}"]
        for minimum in (3, 8):
            covered, starts = simulation.uncorrected_width_coverage(readings, 0.0, math.log1p(wanted), minimum)
            row += [percent(covered), f"{starts:.1f}"]
        # A delta that no interval fits into: what is printed is then the 95 % interval throughout.
        found = simulation.rates(readings, 0.0, Rule(cap=40, precision=wanted, delta=ALONE))
        rows.append([*row, percent(found.covered), f"{found.mean_starts:.1f}"])
    head = ["wanted half-width"]
    for how in ("plain t, at least 3", "plain t, at least 8", "Burnish, at least 8"):
        head += [f"coverage ({how})", "mean starts"]
    return "**Going on until the interval is narrow enough** (spread of a start 0.76 %, cap 40).\n\n" + table(
        head, rows
    )


def pairs(bench: Bench) -> str:
    rows = []
    for kind in (noise.NOISES[0], noise.NOISES[1], noise.NOISES[2]):
        rng = bench.rng(70)
        drawn = kind.pair(rng, (10 * bench.repetitions, 5))
        row = [kind.name]
        for count in (1, 2, 3, 4, 5):
            used = SD_PAIR * drawn[:, :count]
            start = SD_START**2
            mean = math.sqrt(start + float(used.mean(axis=1).var()))
            median = math.sqrt(start + float(np.median(used, axis=1).var()))
            row.append(f"{percent(mean, 2)} / {percent(median, 2)}")
        rows.append(row)
    head = ["noise of a pair", "1 pair", *(f"{count} pairs" for count in (2, 3, 4, 5))]
    return (
        "**Spread of a start's reading, as mean / as median of its pairs** (normal start noise 0.6 %, pair noise "
        "0.7 %).\n\n" + table(head, rows)
    )


def many(bench: Bench) -> str:
    rng = bench.rng(80)
    best = rng.normal(0.0, 0.0025, (bench.repetitions, 64)).max(axis=1)
    layouts = rng.normal(0.0, 0.005 * math.sqrt(2.0), (bench.repetitions, 6))
    starts = rng.normal(0.0, 0.0076, (bench.repetitions, 6, 2))
    one_link = layouts[:, :1] + starts.reshape(bench.repetitions, 12)
    by_layout = layouts + starts.mean(axis=2)
    wrong = simulation.rates(one_link, 0.0, Rule(cap=12, delta=ALONE)).different
    right = simulation.rates(by_layout, 0.0, Rule.fixed(6, delta=ALONE)).different
    return (
        "**Picking, and one layout.** "
        f"The best of 64 equal cells, each with a standard error of 0.25 %, looks {percent(float(best.mean()), 2)} "
        f"better than it is (by formula {percent(winner_overstatement(64, 0.0025), 2)}). "
        "A flag that does nothing, on builds whose layout alone spreads by 0.5 %: judged by 12 starts of one link "
        f"it is called different in {percent(wrong)} of studies, by 6 layouts of 2 starts in {percent(right)}."
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Validate the statistics by simulation.")
    parser.add_argument("--repetitions", type=int, default=50_000, help="simulated studies for each figure")
    parser.add_argument("--recorded", type=Path, help="A/A starts as JSON: a list of lists of log-ratios")
    parser.add_argument("--no-write", action="store_true", help="only print")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    bench = Bench(options.repetitions)
    recorded = Recorded.from_starts(json.loads(options.recorded.read_text())) if options.recorded else None
    margin = 1.96 * math.sqrt(0.05 * 0.95 / options.repetitions)
    opening = (
        f"Each figure is from {options.repetitions:,} simulated studies (seed {SEED}); a share of 5 % or 95 % is "
        f"exact to ±{percent(margin, 2)}."
    )
    sections = [
        opening,
        constants(),
        validity(all_noises(bench, recorded)),
        slots(bench),
        stopping(bench),
        equivalence(bench),
        power(bench),
        fast_lane(bench),
        naive(bench),
        widths(bench),
        pairs(bench),
        many(bench),
    ]
    text = "\n\n".join(sections)
    print(text)
    if not options.no_write:
        document = DOCUMENT.read_text()
        before, rest = document.split(BEGIN)
        _, after = rest.split(END)
        DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    print(f"took {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
