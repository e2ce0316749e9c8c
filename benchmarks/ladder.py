"""What a ladder of builds cost, from a study's record: full compiles, and everything else against them.

    python benchmarks/ladder.py STUDY            a study's folder, its record.sqlite, or an exported record

Prints a Markdown table of every step that was made (not taken from the store), then the two figures to be reached on
two cores for the ladder {baseline, gcc-pgo, clang-pgo-thinlto, clang-pgo-thinlto-bolt, static, strip, unhardened,
frame-pointers} on MariaDB: at most 7 full compiles, and a making part (compiles, trainings, merges, BOLT) of at most
1.1 times the wall time of those compiles. Tests and data sets are listed and summed beside it: they are no part of
making a build, and by hand they would be run as well.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from burnish.build.ccache import CacheUse
from burnish.record.lines import is_file_name
from burnish.record.record import Event, Record, import_events
from burnish.workbench import duration

MAKING = ("compile", "train", "merge", "bolt")
MOST_COMPILES = 7
MOST_RATIO = 1.1


@dataclass(frozen=True)
class Made:
    """One step that was made in the study.

    Attributes:
        kind: the stage's kind: compile, train, merge, bolt, dataset, gate.
        title: for people.
        variant: the variant that it was made for first.
        seconds: wall time.
        peak: largest resident set of any one process, bytes; None where it was not measured.
        cache: what the compiler cache gave; None where there was none.
    """

    kind: str
    title: str
    variant: str
    seconds: float
    peak: int | None
    cache: CacheUse | None

    @property
    def full(self) -> bool:
        """Whether every object, or nearly every one, was compiled."""
        return self.kind == "compile" and (self.cache is None or self.cache.full)


@dataclass(frozen=True)
class Ladder:
    """The figures of one study."""

    steps: tuple[Made, ...]

    @property
    def full_compiles(self) -> int:
        return sum(step.full for step in self.steps)

    @property
    def compile_seconds(self) -> float:
        return sum(step.seconds for step in self.steps if step.full)

    @property
    def making_seconds(self) -> float:
        return sum(step.seconds for step in self.steps if step.kind in MAKING)

    @property
    def other_seconds(self) -> float:
        return sum(step.seconds for step in self.steps if step.kind not in MAKING)

    @property
    def ratio(self) -> float | None:
        """The making part's wall time over that of its full compiles; None without a full compile."""
        return self.making_seconds / self.compile_seconds if self.compile_seconds else None


def read(events: Iterable[Event]) -> Ladder:
    """The steps that a record tells of, in the order in which they were made."""
    steps = []
    for event in events:
        if event.kind == "stage":
            body = event.body
            cache = CacheUse(**body["cache"]) if body["cache"] else None
            steps.append(
                Made(body["stage"], body["title"], body["variant"], body["seconds"], body["peak_rss_bytes"], cache)
            )
    return Ladder(tuple(steps))


def markdown(found: Ladder) -> str:
    """Table and figures."""
    lines = ["| step | for | seconds | from the compiler cache | peak MB |", "| --- | --- | ---: | --- | ---: |"]
    for step in found.steps:
        cached = step.cache.words if step.cache else ""
        peak = f"{step.peak / 1e6:.0f}" if step.peak else ""
        title = f"**{step.title}**" if step.full else step.title
        lines.append(f"| {title} | {step.variant} | {step.seconds:.1f} | {cached} | {peak} |")
    ratio = f"{found.ratio:.3f}" if found.ratio is not None else "no share"
    lines += [
        "",
        f"Full compiles (bold): {found.full_compiles} (at most {MOST_COMPILES}), {duration(found.compile_seconds)}.",
        f"Making all builds: {duration(found.making_seconds)}, or {ratio} of that (at most {MOST_RATIO}).",
        f"Tests and data sets besides: {duration(found.other_seconds)}.",
    ]
    return "\n".join(lines) + "\n"


def of_study(path: Path) -> Ladder:
    """The figures of the study at `path`."""
    if is_file_name(path.name):
        with tempfile.TemporaryDirectory() as place, closing(import_events(path, Path(place))) as record:
            return read(record.events("stage"))
    with closing(Record(path.parent if path.is_file() else path)) as record:
        return read(record.events("stage"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ladder = of_study(Path(sys.argv[1]))
    if not ladder.steps:
        sys.exit(f"{sys.argv[1]}: nothing was made in this study, or it is older than steps are on record")
    sys.stdout.write(markdown(ladder))
