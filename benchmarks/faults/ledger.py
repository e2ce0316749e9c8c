"""The ledger of a campaign: one line of JSON for each case, so that a campaign that is stopped goes on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

_TURN_S = 0.5
_STOPPED_S = 5.0
"""Seconds that a turn is late by if all processes were stopped, and not merely slow."""


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
    """The cases so far, in a file.

    A case in which something was found, but during which this process did not run either (a virtual machine that was
    halted, SIGSTOP to everything), is set aside: time limits passed in which nobody could work. It is played again when
    the campaign goes on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cases = list(self._read())
        self._stopped_s = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _read(self) -> Iterator[Case]:
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                yield Case(**json.loads(line))

    def _watch(self) -> None:
        """Adds up the time in which this process did not run."""
        while True:
            before = time.monotonic()
            time.sleep(_TURN_S)
            late = time.monotonic() - before - _TURN_S
            self._stopped_s += late if late >= _STOPPED_S else 0.0

    def has(self, part: str, name: str) -> bool:
        """Whether this case was done."""
        return any((case.part, case.name) == (part, name) for case in self.cases)

    def add(self, case: Case) -> None:
        """Writes a case and prints it."""
        stopped, self._stopped_s = self._stopped_s, 0.0
        aside = bool(stopped and case.problems)
        if not aside:
            self.cases.append(case)
        with (self.path.with_name("aside.jsonl") if aside else self.path).open("a") as file:
            file.write(json.dumps(asdict(case)) + "\n")
        after = f"; set aside, as everything was stopped for {stopped:.0f} s" if aside else ""
        print(
            f"{case.part} {case.name}: {case.what}; {'; '.join(case.problems) or 'as it should be'}{after}", flush=True
        )
