"""How much of a profile from another version of the source still belongs to a build, by the profile's counts; pure.

The audit of a build (`burnish.profiles.audit`) counts hot functions, all alike. Here each weighs as much as it ran:
what is left of a profile is the share of its counts in functions that the compiler matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.profiles.audit import Unmatched, file_and_name
from burnish.toolchain.counts import Counts

LEAST = 0.05
"""Share of a profile's counts below which a build with it is refused: it is hardly that server's profile.

Above it the measurement decides. SQLite's kept its gain by half and more with 49 % of its counts (docs/BUILDING.md).
"""

PLENTY = 0.5
"""Share of a profile's counts below which its user is told that training anew gains more."""

_NAMED = 3


@dataclass(frozen=True)
class Match:
    """How much of a profile was matched.

    Attributes:
        functions: functions that ran in the training.
        unmatched: how many of them were not matched, or are no longer there.
        share: share of all counts in those that were matched, 0 to 1.
        heaviest: (name, share of all counts) of those that were not, the heaviest first.
    """

    functions: int
    unmatched: int
    share: float
    heaviest: tuple[tuple[str, float], ...] = ()

    @property
    def words(self) -> str:
        """One line for logs, records and reports."""
        named = ", ".join(f"{name} {100 * part:.2g} %" for name, part in self.heaviest[:_NAMED])
        lost = f"; of what is lost most is {named}" if named else ""
        advice = "; less than half: a profile trained on this source gains more" if self.share < PLENTY else ""
        return (
            f"trained on another source; {100 * self.share:.4g} % of its counts still match, in "
            f"{self.functions - self.unmatched:,} of {self.functions:,} functions that ran{lost}{advice}"
        )

    @property
    def enough(self) -> bool:
        """Whether enough of it is left to build with it."""
        return self.share >= LEAST

    def as_dict(self) -> dict[str, object]:
        """Plain values, for a build's description."""
        heaviest = [list(one) for one in self.heaviest]
        return {"functions": self.functions, "unmatched": self.unmatched, "share": self.share, "heaviest": heaviest}


def of_clang(counts: Counts, unmatched: Unmatched, there: Iterable[str]) -> Match:
    """What clang matched.

    Args:
        counts: the profile's counts by function; a local one's name has its file before it ('a.c;f').
        unmatched: (file, function) of those that were not.
        there: names of the build's source files, without folders: local functions of others are lost.
    """
    files = frozenset(there)
    places = {(Path(file).name, name) for file, name in unmatched}
    plain = {name for _, name in unmatched}
    lost = set()
    for key in counts:
        file, name = file_and_name(key)
        base = Path(file).name
        gone = bool(file and files) and base not in files
        if gone or ((base, name) in places if file else name in plain):
            lost.add(key)
    return _of(counts, lost)


def of_gcc(objects: Mapping[str, tuple[int, int]], unmatched: Unmatched, there: Iterable[str]) -> Match:
    """What gcc matched: it names functions in its own notation, so each weighs as its object's do on average.

    Args:
        objects: by the .gcda's path, functions that ran and the sum of its counts.
        unmatched: (file, function) of those that were not.
        there: paths of the build's objects.
    """
    built = {str(Path(path).with_suffix(".gcda")) for path in there}
    per_file: dict[str, set[str]] = {}
    for file, name in unmatched:
        per_file.setdefault(Path(file).name, set()).add(name)
    total = sum(counts for _, counts in objects.values())
    functions = lost = 0
    lost_counts: dict[str, float] = {}
    for path, (ran, counts) in objects.items():
        stem = Path(path).name.removesuffix(".gcda")  # a.cc with cmake, a with make
        names = per_file.get(stem) or {
            name for file, its in per_file.items() if Path(file).stem == stem for name in its
        }
        gone = ran if built and path not in built else min(ran, len(names))
        functions, lost = functions + ran, lost + gone
        if gone and counts:
            lost_counts[path] = counts * gone / ran if ran else 0.0
    share = 1.0 - sum(lost_counts.values()) / total if total else 0.0
    heaviest = sorted(((path, part / total) for path, part in lost_counts.items()), key=lambda item: -item[1])
    return Match(functions, lost, share, tuple(heaviest[:10]))


def _of(counts: Counts, lost: set[str]) -> Match:
    ran = {name: count for name, count in counts.items() if count > 0}
    total = sum(ran.values())
    gone = sorted(((name, ran[name] / total) for name in lost & ran.keys()), key=lambda item: (-item[1], item[0]))
    share = sum(count for name, count in ran.items() if name not in lost) / total if total else 0.0
    return Match(len(ran), len(gone), share, tuple(gone[:10]))
