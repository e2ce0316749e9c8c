"""Which branch hints of the source a profile contradicts, as clang's -Wmisexpect says it; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FLAG = "-Wmisexpect"

_WARNING = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: warning: .*annotation was correct on [\d.]+% "
    r"\((?P<right>\d+) / (?P<runs>\d+)\) of profiled executions.*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class WrongHint:
    """A hint that held less often than it says.

    Attributes:
        file: the source, as the compiler was given it.
        line: of the condition; of the function where the build has no debug information.
        right: executions in which it held.
        runs: executions in the profile.
    """

    file: str
    line: int
    right: int
    runs: int

    @property
    def wrong(self) -> int:
        """Executions in which it did not hold."""
        return self.runs - self.right


def read_hints(log: str) -> tuple[WrongHint, ...]:
    """The hints that a compile log warns of, those that were wrong most often first.

    A hint in a header is told of by each file that includes it. An inline function's counters are one for the whole
    program, so the same figures again are the same executions; other figures are another copy's, and add up.
    """
    told = dict.fromkeys((m["file"], int(m["line"]), int(m["right"]), int(m["runs"])) for m in _WARNING.finditer(log))
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    for file, line, right, runs in told:
        have = sums.get((file, line), (0, 0))
        sums[file, line] = (have[0] + right, have[1] + runs)
    found = [WrongHint(file, line, right, runs) for (file, line), (right, runs) in sums.items()]
    return tuple(sorted(found, key=lambda hint: -hint.wrong))


def notes(told: Sequence[Sequence[object]], shown: int = 3) -> list[str]:
    """A line for people on (file, line, right, runs) of wrong hints; none when there are none.

    Args:
        told: as `read_hints` found them, as plain values.
        shown: how many are named.
    """
    if not told:
        return []
    hints = [WrongHint(str(file), int(str(line)), int(str(r)), int(str(n))) for file, line, r, n in told]
    worst = "; ".join(
        f"{'/'.join(hint.file.split('/')[-3:])}:{hint.line} held in {100 * hint.right / hint.runs:.1f} % of "
        f"{hint.runs:,}"
        for hint in hints[:shown]
        if hint.runs
    )
    return [f"{len(hints)} branch hints contradict the profile, the most often wrong: {worst}"]
