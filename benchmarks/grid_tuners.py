"""Burnish's search, OpenTuner and random search on a grid of real builds that was measured: ten times, by its record.

    python benchmarks/grid_tuners.py GRID --opentuner /tmp/opentuner/bin/python [--repetitions 10] [--share 0.25]

GRID is the home or the exported record of `benchmarks/sqlite_grid.py`'s grid. All three ask for builds and starts as
they would on the host; what they read is drawn from the record: the build's worth, and the deviation of a start of the
grid, drawn by chance. A build is worth what the fit of all 64 gives its choices and each two of them, and that part of
its own deviation which is no noise (`--fit`: the fit alone). A build and a start take what they took on average. Each
has a share of what the whole grid cost. From seed to seed the readings differ, and the strategies' own choices.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from sqlite_grid import CHOICES, cost_of, events_of, fitted, means_of, name_of, shrunk, space_text
from tuners import table

from burnish.catalogue.space import space_file
from burnish.record.by_type import ByType
from burnish.record.events import Event, Recorded
from burnish.search.asks import Costs
from burnish.search.space import Point, Space, Step


@dataclass(frozen=True)
class Grid:
    """A measured grid as an engine.

    Attributes:
        space: the choices.
        worth: by build, its log-ratio.
        deviations: of starts from their build's mean, log-ratios.
        costs: mean seconds of a build and of a start.
    """

    space: Space
    worth: Mapping[str, float]
    deviations: Sequence[float]
    costs: Costs

    @property
    def best(self) -> float:
        """See `search.Simulated`."""
        return max(self.worth.values())

    def truth(self, point: Point) -> float:
        """See `search.Simulated`."""
        return self.worth[name_of(dict(point.settings))]

    def read(self, point: Point, random: Random) -> float:
        """See `search.Simulated`."""
        return self.truth(point) + random.choice(self.deviations)


def grid_of(events: Sequence[Recorded[Event]], *, fit: bool = False) -> Grid:
    """The grid of a record; `fit`: builds are worth what their choices and each two of them are, and no more."""
    by = ByType(events)
    starts = means_of(by)
    means = {name: statistics.fmean(values) for name, values in starts.items()}
    if len(means) + 1 < 2 ** len(CHOICES):
        sys.exit(f"{len(means)} of {2 ** len(CHOICES) - 1} builds are measured: give the grid's command again")
    # A mean follows its own starts: their deviations from it are smaller than from the truth.
    deviations = [
        (value - means[name]) * (len(values) / (len(values) - 1)) ** 0.5
        for name, values in starts.items()
        if len(values) > 1
        for value in values
    ]
    cost = cost_of(by)
    worth = fitted(means) if fit else shrunk(starts)[0]
    return Grid(_space(), worth, deviations, Costs(dict.fromkeys(Step, cost.build), cost.start))


def _space() -> Space:
    with TemporaryDirectory() as place:
        path = Path(place) / "space.toml"
        path.write_text(space_text())
        return space_file(path).space


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grid", type=Path)
    parser.add_argument("--opentuner", type=Path, required=True, help="Python with OpenTuner")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--share", type=float, default=0.25, help="of the grid's cost, for each search")
    parser.add_argument("--fit", action="store_true", help="builds are worth what their choices are, and no more")
    words = parser.parse_args()
    events = events_of(words.grid)
    grid, cost = grid_of(events, fit=words.fit), cost_of(ByType(events)).total
    (step, *_), start = grid.costs.steps.values(), grid.costs.start
    print(
        f"a build {step:.0f} s, a start {start:.0f} s, {cost / 60:.0f} min in all; each has {words.share:.0%} of it\n"
    )
    table(dict.fromkeys(range(1, words.repetitions + 1), grid), words.opentuner, words.share * cost)


if __name__ == "__main__":
    main()
