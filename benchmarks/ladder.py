"""What a ladder of builds cost, from a study's record: full compiles, and everything else against them.

    python benchmarks/ladder.py STUDY [--home HOME] [--variants A,B]

STUDY is a study's folder, its record.sqlite, or an exported record. Prints a Markdown table of every step that was
made for these variants (all of the study's when none are named), then the two figures to be reached on
two cores for the ladder {baseline, gcc-pgo, clang-pgo-thinlto, clang-pgo-thinlto-bolt, static, strip, unhardened,
frame-pointers} on MariaDB: at most 7 full compiles, and a making part (compiles, trainings, merges, BOLT) of at most
1.1 times the wall time of those compiles. Tests and data sets are listed and summed beside it: they are no part of
making a build, and by hand they would be run as well.

A step that the study found in the store was made by an earlier one. With --home its time is read from what the store
says of it, and the figures are those of the ladder from nothing; without, they are of what this study itself made.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burnish.base.durations import duration
from burnish.builds.sharing import MOSTLY
from burnish.record.codec import plain
from burnish.record.events.builds import BuildMade, StageDone
from burnish.record.lines import is_file_name
from burnish.record.record import Record, import_events
from burnish.toolchain.ccache import CacheUse

MAKING = ("compile", "train", "merge", "bolt", "strip")
MOST_COMPILES = 7
MOST_RATIO = 1.1


@dataclass(frozen=True)
class Made:
    """One step that was made.

    Attributes:
        kind: the stage's kind: compile, train, merge, bolt, dataset, gate.
        title: for people.
        variant: the variant that it was made for first.
        seconds: wall time.
        peak: largest resident set of any one process, bytes; None where it was not measured.
        cache: what the compiler cache gave; None where there was none.
        earlier: whether another study made it.
    """

    kind: str
    title: str
    variant: str
    seconds: float
    peak: int | None
    cache: CacheUse | None
    earlier: bool = False

    @property
    def full(self) -> bool:
        """Whether it was more than putting a build together from the cache."""
        return self.kind == "compile" and (self.cache is None or self.cache.share <= MOSTLY)


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


def read(events: Iterable[StageDone | BuildMade], store: Path | None = None, variants: Collection[str] = ()) -> Ladder:
    """The steps that a record tells of, in the order in which they were made; those from the store before them.

    Args:
        events: of the record, in order.
        store: where steps that the study found made are looked up.
        variants: only steps that were made for one of them; empty: all.
    """
    earlier, made, keys = [], [], set()
    builds = []
    for event in events:
        if variants and event.build.name not in variants:
            continue
        if isinstance(event, StageDone):
            keys.add(event.key)
            made.append(_step(event.stage, event.title, event.build.name, plain(event)))
        else:
            builds.append(event)
    for build in builds:
        for stage in build.stages:
            if store and stage.key not in keys:
                keys.add(stage.key)
                found = [*store.glob(f"*/{stage.key}/burnish.json")]
                if found:
                    about = json.loads(found[0].read_text())
                    kind = _kind(found[0].parent.parent.name, stage.title)
                    earlier.append(replace(_step(kind, stage.title, build.build.name, about), earlier=True))
    return Ladder((*earlier, *made))


def _step(kind: str, title: str, variant: str, about: Mapping[str, Any]) -> Made:
    cache = CacheUse(**about["cache"]) if about.get("cache") else None
    return Made(kind, title, variant, about["seconds"], about.get("peak_rss_bytes"), cache)


def _kind(room: str, title: str) -> str:
    """What made the entry of this room of the store."""
    if room == "profiles":
        return "train"
    return "bolt" if title.startswith("BOLT") else "strip" if title.startswith("strip") else "compile"


def markdown(found: Ladder) -> str:
    """Table and figures."""
    lines = ["| step | for | seconds | from the compiler cache | peak MB |", "| --- | --- | ---: | --- | ---: |"]
    for step in found.steps:
        cached = step.cache.words if step.cache else ""
        peak = f"{step.peak / 1e6:.0f}" if step.peak else ""
        title = f"**{step.title}**" if step.full else step.title
        title += " (made before)" if step.earlier else ""
        lines.append(f"| {title} | {step.variant} | {step.seconds:.1f} | {cached} | {peak} |")
    ratio = f"{found.ratio:.3f}" if found.ratio is not None else "no share"
    lines += [
        "",
        f"Full compiles (bold): {found.full_compiles} (at most {MOST_COMPILES}), {duration(found.compile_seconds)}.",
        f"Making all builds: {duration(found.making_seconds)}, or {ratio} of that (at most {MOST_RATIO}).",
        f"Tests and data sets besides: {duration(found.other_seconds)}.",
    ]
    return "\n".join(lines) + "\n"


def of_study(path: Path, store: Path | None = None, variants: Collection[str] = ()) -> Ladder:
    """The figures of the study at `path`."""
    if is_file_name(path.name):
        with tempfile.TemporaryDirectory() as place, closing(import_events(path, Path(place))) as record:
            return read(_events(record), store, variants)
    with closing(Record(path.parent if path.is_file() else path)) as record:
        return read(_events(record), store, variants)


def _events(record: Record) -> Iterator[StageDone | BuildMade]:
    return (each.event for each in record.every() if isinstance(each.event, StageDone | BuildMade))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--variants", default="")
    asked = parser.parse_args()
    ladder = of_study(asked.study, asked.home and asked.home / "store", list(filter(None, asked.variants.split(","))))
    if not ladder.steps:
        sys.exit(f"{asked.study}: nothing was made in this study, or it is older than steps are on record")
    sys.stdout.write(markdown(ladder))
