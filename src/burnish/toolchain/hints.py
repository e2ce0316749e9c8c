"""Branch hints in the source that a profile contradicts, from clang's -Wmisexpect; pure."""

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
    """A branch hint that was right less often than it claims.

    Attributes:
        file: the source, as on the compiler's command line.
        line: line of the condition; of the function in a build without debug information.
        right: executions in which it was right.
        runs: executions in the profile.
    """

    file: str
    line: int
    right: int
    runs: int

    @property
    def wrong(self) -> int:
        """Executions in which it was wrong."""
        return self.runs - self.right


def read_hints(log: str) -> tuple[WrongHint, ...]:
    """The hints in a compile log's warnings, those that were wrong most often first.

    Each file that includes a header warns about the header's hints. An inline function has one set of counters in the
    program, so equal figures are the same executions; different figures belong to different copies and are added.
    """
    warnings = dict.fromkeys(
        (m["file"], int(m["line"]), int(m["right"]), int(m["runs"])) for m in _WARNING.finditer(log)
    )
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    for file, line, right, runs in warnings:
        have = sums.get((file, line), (0, 0))
        sums[file, line] = (have[0] + right, have[1] + runs)
    hints = [WrongHint(file, line, right, runs) for (file, line), (right, runs) in sums.items()]
    return tuple(sorted(hints, key=lambda hint: -hint.wrong))


def notes(hint_values: Sequence[Sequence[object]], shown: int = 3) -> list[str]:
    """A line for people about wrong hints; none if there are none.

    Args:
        hint_values: (file, line, right, runs) of each hint, from `read_hints`.
        shown: number of hints that are named.
    """
    if not hint_values:
        return []
    hints = [WrongHint(str(file), int(str(line)), int(str(r)), int(str(n))) for file, line, r, n in hint_values]
    worst = "; ".join(
        f"{'/'.join(hint.file.split('/')[-3:])}:{hint.line} held in {100 * hint.right / hint.runs:.1f} % of "
        f"{hint.runs:,}"
        for hint in hints[:shown]
        if hint.runs
    )
    return [f"{len(hints)} branch hints contradict the profile, the most often wrong: {worst}"]
