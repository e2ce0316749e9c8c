"""The ledger of a campaign: one line of JSON for each case, so that a campaign that is stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Case:
    """What came of one case.

    Attributes:
        part: which part of the campaign.
        name: which case of it.
        study: name of the study that was disturbed.
        what: what was done to it, in words.
        problems: what is wrong, in words; empty: nothing.
        points: how many faults the case had.
        notes: what is worth knowing besides.
        seconds: wall time.
    """

    part: str
    name: str
    study: str
    what: str
    problems: tuple[str, ...] = ()
    points: int = 1
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)


class Ledger:
    """The cases so far, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cases = list(self._read())

    def _read(self) -> Iterator[Case]:
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                yield Case(**json.loads(line))

    def has(self, part: str, name: str) -> bool:
        """Whether this case was done."""
        return any((case.part, case.name) == (part, name) for case in self.cases)

    def add(self, case: Case) -> None:
        """Writes a case and prints it."""
        self.cases.append(case)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(case)) + "\n")
        print(f"{case.part} {case.name}: {case.what}; {'; '.join(case.problems) or 'as it should be'}", flush=True)
