"""What a cell of a study is: which candidate is compared with what, under what, on which load, and what for.

Identity is fields; names are made from them for people and logs, and are never taken apart again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AA = "A/A"
"""Candidate of a canary's cell: the base once more."""

AGAIN = "again"
"""In a name: the same once more."""


class Role(StrEnum):
    """What a cell is for.

    * ``claim``: it has a verdict that the study is asked for;
    * ``canary``: the base against itself, so that each study carries its own check;
    * ``confirmation``: fresh starts, of a number fixed in advance, of what was picked as the best of many.
    """

    CLAIM = "claim"
    CANARY = "canary"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, order=True)
class CellId:
    """Which cell of a study it is.

    Attributes:
        candidate: the build or program whose verdict it is; of compared conditions, what sets the second apart; `AA`
            for a canary.
        workload: name of the load.
        role: what the cell is for.
        base: the build that the candidate is compared with; '' where the study has one for all its cells.
        given: words of the condition that both sides are under (``transport=tcp``).
        versus: words that set the candidate's condition apart from that.
        control: whether the candidate is the base once more, with a verdict of its own.
        program: the first digits of the candidate's digest where its name alone does not tell which program it was: a
            distribution's release; '' otherwise.
        series: of a confirmation, the series whose best row it is; '' where the study has one series.
        design: the trial design where it is what tells two cells apart (`calibrate`); '' otherwise.
    """

    candidate: str
    workload: str
    role: Role = Role.CLAIM
    base: str = ""
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    control: bool = False
    program: str = ""
    series: str = ""
    design: str = ""

    @property
    def is_canary(self) -> bool:
        """Whether it compares a base with itself without a verdict of its own."""
        return self.role is Role.CANARY

    @property
    def is_usual(self) -> bool:
        """Whether both sides run under the usual condition, the one that calibrations are made under."""
        return not self.given and not self.versus

    @property
    def group(self) -> str:
        """What cells that share a base's canaries have in common, in words; '' where all cells of a study do."""
        return ", ".join([self.base, *self.given]) if self.base else ""

    @property
    def label(self) -> str:
        """The candidate's name as a side of each start: build, condition, program."""
        if self.control:
            return f"{self.candidate} {AGAIN}"
        words = ", ".join([self.candidate, *self.versus])
        return f"{words} {self.program}" if self.program else words

    @property
    def tag(self) -> str:
        """What stands before the label in its name; '' where nothing has to."""
        if self.design:
            return self.design
        if self.role is Role.CONFIRMATION:
            return f"{AGAIN}, {self.series} {self.group}" if self.base else AGAIN
        return self.group

    @property
    def name(self) -> str:
        """For people and logs: ``clang-pgo-thinlto / oltp_read_only``, with what tells it apart before that."""
        text = f"{self.label} / {self.workload}"
        return f"{self.tag}: {text}" if self.tag else text

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, order=True)
class ComparisonId:
    """Which comparison of a bundled study it is: a cell of the study's table, tried or not.

    Attributes:
        row: the row's name.
        series: the series' name; '' where there is one only.
        reading: the reading's name; '' where there is one only.
        load: role of its load; '' where nothing is loaded.
        threads: client threads; None: the load's own.
        test: which of a suite's tests it is; '' where the load is one.
    """

    row: str
    series: str = ""
    reading: str = ""
    load: str = ""
    threads: int | None = None
    test: str = ""

    @property
    def key(self) -> str:
        """For tables and machines: the six in one text, the test only where there is one."""
        return " / ".join(self._place)

    @property
    def title(self) -> str:
        """For people: what there is of series, row, reading, load, threads and test."""
        return ", ".join(filter(None, self._place))

    @property
    def _place(self) -> tuple[str, ...]:
        words = (self.series, self.row, self.reading, self.load, str(self.threads or ""))
        return (*words, self.test) if self.test else words

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, order=True)
class BuildId:
    """Which build of a variant it is.

    Attributes:
        variant: the variant's name, or that of a program which exists already.
        replicate: which of the variant's replicates, from 1; 0: the variant has one build.
    """

    variant: str
    replicate: int = 0

    @property
    def name(self) -> str:
        """For people, logs and stores: ``gcc-pgo``, ``gcc-pgo#2``."""
        return f"{self.variant}#{self.replicate}" if self.replicate else self.variant

    def __str__(self) -> str:
        return self.name
