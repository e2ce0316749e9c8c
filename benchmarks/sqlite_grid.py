"""A search on real SQLite against a grid of all 64 builds: within 1 % of the best for a quarter of its cost?

    python benchmarks/sqlite_grid.py write FOLDER           # space.toml, grid.toml, and the two commands
    BURNISH_HOME=FOLDER/grid ./burnish tune sqlite …        # the first command: some 2 h on 2 cores, resumable
    BURNISH_HOME=FOLDER/search ./burnish tune sqlite …      # the second, in a home of its own: nothing is shared
    python benchmarks/sqlite_grid.py show FOLDER/grid       # what there is to find
    python benchmarks/sqlite_grid.py judge FOLDER/grid FOLDER/search

Six choices of two levels each, all combinations allowed: 64 builds of gcc. Each has the same number of starts of
speedtest1 in the grid. The best of 64 means is too good by chance, so what is taken for the truth is what the choices
and their pairs are worth by all of them together (least squares: 21 figures from 63 means); both are printed.

Both commands are resumed by giving them again, so they can run in pieces while the machine is free. A session's time
is from its first event to its last. The search's budget is a quarter of what the grid is expected to take; what both
took is in the result: of the grid what its builds took to make, wherever that was, and its starts.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy

from burnish.base.paths import Home
from burnish.catalogue.space import SpaceFile, space_file
from burnish.model.cell import Role
from burnish.model.recipe import Recipe
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, GateRun, StageDone
from burnish.record.events.searches import SearchBegun, SearchEnded
from burnish.record.events.study import SessionBegun
from burnish.record.events.trials import StartDone
from burnish.record.exchange import read_events, study_events
from burnish.study.kept.runs import folders

CHOICES: Mapping[str, tuple[str, str, float, Mapping[str, Any]]] = {
    "profile": ("trained", "compile", 15.0, {"pgo": True}),
    "level": ("O3", "compile", 1.0, {"level": "-O3"}),
    "inlining": ("generous", "compile", 1.5, {"flags": ["inline-generously"]}),
    "loops": ("unrolled", "optimise", 0.7, {"flags": ["unroll-loops"]}),
    "alignment": ("aligned", "compile", 0.5, {"flags": ["aligned-functions"]}),
    "jump-tables": ("comparisons", "compile", 0.5, {"flags": ["no-jump-tables"]}),
}
"""By choice: its other level, its step, what is expected of it in per cent, its difference to a recipe."""

LOAD, STARTS, BUDGET = "speedtest1", 3, "29m"


def space_text() -> str:
    """The space of the search, as TOML; its one known-good build is the profile."""
    lines = ["bolt_defaults = []"]
    for name, (level, step, expected, overlay) in CHOICES.items():
        lines += [
            f"[choice.{name}]",
            'reason = "One of six choices of a grid in which every combination is built and measured."',
            f'step = "{step}"',
            f"expected = {expected}",
            "levels.usual = {}",
            f"levels.{level} = {_toml(overlay)}",
        ]
    lines += [
        "[rung.gcc-pgo]",
        'reason = "The largest single gain that is published, as in the catalogue."',
        'levels = { profile = "trained" }',
    ]
    return "\n".join(lines) + "\n"


def grid_text(file: SpaceFile) -> str:
    """Every build of the grid but the baseline, as recipes of a user's own, named by their levels."""
    lines = []
    for settings in _settings():
        if settings:
            recipe = file.recipe(file.space.point(settings))
            lines.append(f"[{name_of(settings)}]\nrecipe = {_toml(_fields(recipe))}\n")
    return "\n".join(lines)


def _settings() -> list[dict[str, str]]:
    """The levels of every build that are not the usual ones."""
    return [
        {name: level for (name, (level, *_)), on in zip(CHOICES.items(), levels, strict=True) if on}
        for levels in product((False, True), repeat=len(CHOICES))
    ]


def name_of(settings: Mapping[str, str]) -> str:
    """A build's name in the grid: ``grid-100110``, a digit for each choice."""
    return "grid-" + "".join(str(int(name in settings)) for name in CHOICES)


def _fields(recipe: Recipe) -> dict[str, Any]:
    usual = Recipe().as_dict()
    return {name: value for name, value in recipe.as_dict().items() if value != usual[name]}


def _toml(values: Mapping[str, Any]) -> str:
    """Plain values as an inline table."""
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items()) + " }"


def write(folder: Path) -> None:
    """Writes both files, and prints the commands."""
    folder.mkdir(parents=True, exist_ok=True)
    space, grid = folder / "space.toml", folder / "grid.toml"
    space.write_text(space_text())
    grid.write_text(grid_text(space_file(space)))
    names = ",".join(name_of(settings) for settings in _settings() if settings)
    common = f"--workload {LOAD} --yes"
    print(
        f"BURNISH_HOME={folder}/grid ./burnish tune sqlite --recipes {grid} --variant {names} --starts {STARTS} "
        f"--precision none --layouts 0 {common}\n"
        f"BURNISH_HOME={folder}/search ./burnish tune sqlite --space {space} --budget {BUDGET} --prior none {common}"
    )


@dataclass(frozen=True)
class Cost:
    """What a grid costs, in seconds.

    Attributes:
        build: of a build in the mean, with its profile's part and its tests.
        start: of a start in the mean.
        total: of all builds one after the other, whoever made them, and of all starts.
    """

    build: float
    start: float
    total: float


def cost_of(by: ByType) -> Cost:
    """The cost of a grid by its record; a build that the store had already counts with what it took to make."""
    made = {event.key: float(event.about["seconds"]) for event in by.of(BuildMade)}
    others = {event.key: event.seconds for event in by.of(StageDone) if event.stage != "gate" and event.key not in made}
    tests = {event.key: event.report.seconds for event in by.of(GateRun)}
    builds = sum((*made.values(), *others.values(), *tests.values()))
    starts = [event.seconds for event in by.of(StartDone)]
    return Cost(builds / len(made), statistics.fmean(starts), builds + sum(starts))


def seconds_of(events: Sequence[Recorded[Event]]) -> float:
    """Seconds of all sessions of a record."""
    total, first, last = 0.0, None, None
    for recorded in events:
        now = datetime.fromisoformat(recorded.at)
        if isinstance(recorded.event, SessionBegun):
            total += (last - first).total_seconds() if first is not None and last is not None else 0.0
            first = now
        last = now
    return total + ((last - first).total_seconds() if first is not None and last is not None else 0.0)


def means_of(by: ByType) -> dict[str, list[float]]:
    """By candidate, the log-ratios of its valid starts in a record's claims."""
    found: dict[str, list[float]] = {}
    for event in by.of(StartDone):
        claim = event.cell.role is Role.CLAIM and event.cell.candidate.startswith("grid-")
        if claim and event.invalid is None and "capacity" in event.readings:
            found.setdefault(event.cell.candidate, []).append(event.readings["capacity"])
    return found


def fitted(means: Mapping[str, float]) -> dict[str, float]:
    """By build, the sum of what its choices and each two of them together are worth, from all builds' means.

    Args:
        means: mean log-ratio by candidate; the baseline is 0 by definition and adds nothing.
    """
    names = [name_of(settings) for settings in _settings()]
    terms = [_terms(name) for name in names]
    measured = [number for number, name in enumerate(names) if name in means and any(terms[number])]
    worth, *_ = numpy.linalg.lstsq(
        numpy.array([terms[number] for number in measured]),
        numpy.array([means[names[number]] for number in measured]),
        rcond=None,
    )
    return dict(zip(names, (float(value) for value in numpy.array(terms) @ worth), strict=True))


def shrunk(starts: Mapping[str, Sequence[float]]) -> tuple[dict[str, float], float]:
    """By build, the fit and that part of its mean's deviation from it which is no noise; and that part.

    Builds differ by more than their choices and pairs of them, by code layout for one. Of the variance of deviations,
    what starts scatter by is noise; the rest is the builds' own.
    """
    means = {name: statistics.fmean(values) for name, values in starts.items()}
    fit = fitted(means)
    noise = statistics.fmean(statistics.variance(values) / len(values) for values in starts.values())
    figures = len(_terms(name_of({})))
    squares = sum((means[name] - fit[name]) ** 2 for name in means) / (len(means) - figures)
    part = max(0.0, 1.0 - noise / squares)
    return {name: worth + part * (means.get(name, 0.0) - worth) for name, worth in fit.items()}, part


def _terms(name: str) -> list[float]:
    """Which choices a build has, and which pairs of them, as 0 and 1."""
    digits = [float(digit) for digit in name.removeprefix("grid-")]
    return [*digits, *(one * other for one, other in combinations(digits, 2))]


def events_of(path: Path) -> Sequence[Recorded[Event]]:
    """The events of a home's newest run, or of an exported record."""
    return study_events(folders(Home(path))[-1]) if path.is_dir() else read_events(path)


def show(grid: Path) -> None:
    """Prints what there is to find in a grid, a home or an exported record: what builds and choices are worth."""
    starts = means_of(ByType(events_of(grid)))
    means = {name: statistics.fmean(values) for name, values in starts.items()}
    fit, (_, part) = fitted(means), shrunk(starts)
    best = max(fit, key=lambda name: fit[name])
    print(f"by the fit the best is {best}, {math.exp(fit[best]):.3f} times the baseline")
    for number, choice in enumerate(CHOICES):
        sides = [[fit[name] for name in fit if (name[len("grid-") + number] == "1") is on] for on in (True, False)]
        alone = math.exp(fit[name_of({choice: ""})])
        average = 100 * (statistics.fmean(sides[0]) - statistics.fmean(sides[1]))
        print(f"{choice}: alone {alone:.3f} times, on average over the others {average:+.1f} % (log-ratio)")
    print(f"{100 * part:.0f} % of the variance of means around the fit is no noise of their starts")
    scatter = math.sqrt(statistics.fmean(statistics.variance(values) for values in starts.values()))
    print(f"a start scatters by {100 * scatter:.1f} % around its build's mean (standard deviation)")


def judge(grid: Path, search: Path) -> None:
    """Prints what the search found against the grid; each is a home or an exported record."""
    events = [events_of(path) for path in (grid, search)]
    measured = ByType(events[0])
    means = {name: statistics.fmean(values) for name, values in means_of(measured).items()}
    means[name_of({})] = 0.0
    ended = ByType(events[1]).last(SearchEnded)
    begun = ByType(events[1]).last(SearchBegun)
    if len(means) < len(_settings()) or ended is None or begun is None:
        sys.exit(f"{len(means)} of {len(_settings())} builds are measured, search at its end: {ended is not None}")
    truth, costs = fitted(means), (cost_of(measured).total, seconds_of(events[1]))
    found = name_of(ended.settings if ended.winner else {})
    rows = {
        "the best of 64 means": max(means, key=lambda name: means[name]),
        "the best of 64 by the fit": max(truth, key=lambda name: truth[name]),
        "what the search found": found,
    }
    print("| | build | its mean | by the fit |\n| --- | --- | --- | --- |")
    for what, name in rows.items():
        print(f"| {what} | {name} | {math.exp(means[name]):.4f} | {math.exp(truth[name]):.4f} |")
    gaps = [max(values.values()) - values[found] for values in (means, truth)]
    print(f"\nThe search's build is {100 * gaps[1]:.2f} % below the best by the fit, {100 * gaps[0]:.2f} by the means.")
    print(f"It cost {costs[1] / 60:.0f} min, {100 * costs[1] / costs[0]:.0f} % of the grid's {costs[0] / 60:.0f}.")


def main() -> None:
    """Writes the request, or judges what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("write").add_argument("folder", type=Path)
    verbs.add_parser("show").add_argument("grid", type=Path)
    judged = verbs.add_parser("judge")
    judged.add_argument("grid", type=Path)
    judged.add_argument("search", type=Path)
    words = parser.parse_args()
    if words.verb == "write":
        write(words.folder.absolute())
    elif words.verb == "show":
        show(words.grid)
    else:
        judge(words.grid, words.search)


if __name__ == "__main__":
    main()
