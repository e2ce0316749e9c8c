"""A cell of a study: which candidate is compared with which base, under which condition, on which load, and why.

A cell is identified by its fields. Names are made from them for people and logs and are never parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

AA = "A/A"
"""Candidate of a canary's cell: the base itself, compared with itself."""

AGAIN = "again"
"""Word in a cell's name: the same candidate, measured a second time."""

RELINKED = "other layouts"
"""Words in a cell's name: both sides are linked anew for each start."""


DEPLOYED = "deployed"
"""Word in a cell's name: the candidate runs under another deployment."""


class Role(StrEnum):
    """The purpose of a cell.

    * ``claim``: its verdict is what the study was asked for;
    * ``canary``: the base compared with itself, the study's own check of its noise;
    * ``confirmation``: new starts, their number fixed in advance, of the candidate picked as the best of many;
    * ``deployment``: the recommended build under another deployment, against its own usual one or, with all choices
      that gained, against the base under the usual one;
    * ``layouts``: starts of both sides in other link orders, a fresh pair of builds each, for a claim so small that
      the order alone may have made it.
    """

    CLAIM = "claim"
    CANARY = "canary"
    CONFIRMATION = "confirmation"
    LAYOUTS = "layouts"
    DEPLOYMENT = "deployment"


@dataclass(frozen=True, order=True)
class CellId:
    """Identifies a cell of a study.

    Attributes:
        candidate: the build or program that gets the verdict; when conditions are compared, the settings in which the
            second condition differs; `AA` for a canary.
        workload: name of the load.
        role: purpose of the cell.
        base: the build that the candidate is compared with; '' if all cells of the study have the same base.
        given: settings of the condition that both sides run under (``transport=tcp``).
        versus: settings in which the candidate's condition differs from that.
        control: whether the candidate is the base itself, but with a verdict of its own.
        program: the first digits of the candidate's digest if its name does not identify the program (a
            distribution's release); '' otherwise.
        series: of a confirmation, the series whose best row it is; '' if the study has one series.
        design: the trial design if cells differ in it only (`calibrate`); '' otherwise.
        placement: the placement if cells may differ in it only (a confirmation in another one than the claim's, a row
            that names one); '' otherwise.
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
    placement: str = ""

    @property
    def is_canary(self) -> bool:
        """Whether it compares a base with itself without a verdict of its own."""
        return self.role is Role.CANARY

    @property
    def is_again(self) -> bool:
        """Whether it measures a claim again, on starts whose number was fixed in advance."""
        return self.role in (Role.CONFIRMATION, Role.LAYOUTS)

    @property
    def is_usual(self) -> bool:
        """Whether both sides run under the usual condition, the one that calibrations are made under."""
        return not self.given and not self.versus

    @property
    def group(self) -> str:
        """Name of the group of cells that share a base's canaries; '' if the study has one group."""
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
        """Prefix of the label in the cell's name; '' if none is needed."""
        return ", ".join(filter(None, (self._purpose, self.placement)))

    @property
    def _purpose(self) -> str:
        if self.design:
            return self.design
        if self.role is Role.CONFIRMATION:
            return f"{AGAIN}, {self.series} {self.group}" if self.base else AGAIN
        if self.role is Role.DEPLOYMENT:
            own = self.base == self.candidate  # whose name the label has
            return ", ".join([DEPLOYED, *([] if own else [self.base]), *self.given])
        if self.role is Role.LAYOUTS:
            return ", ".join(filter(None, (RELINKED, self.group)))
        return self.group

    @property
    def name(self) -> str:
        """For people and logs: ``clang-pgo-thinlto / oltp_read_only``, after the tag if there is one."""
        text = f"{self.label} / {self.workload}"
        return f"{self.tag}: {text}" if self.tag else text

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, order=True)
class ComparisonId:
    """Identifies a comparison of a bundled study: an entry of the study's table, whether measured or not.

    Attributes:
        row: name of the row.
        series: name of the series; '' if there is only one.
        reading: name of the reading; '' if there is only one.
        load: role of its load; '' if it has no load.
        threads: client threads; None: the load's default.
        test: name of the test in a suite; '' if the load is a single test.
    """

    row: str
    series: str = ""
    reading: str = ""
    load: str = ""
    threads: int | None = None
    test: str = ""

    @property
    def key(self) -> str:
        """For tables and scripts: the fields in one text; the test only if there is one."""
        return " / ".join(self._words)

    @property
    def title(self) -> str:
        """For people: those of series, row, reading, load, threads and test that are not empty."""
        return ", ".join(filter(None, self._words))

    @property
    def _words(self) -> tuple[str, ...]:
        words = (self.series, self.row, self.reading, self.load, str(self.threads or ""))
        return (*words, self.test) if self.test else words

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, order=True)
class BuildId:
    """Identifies a build of a variant.

    Attributes:
        variant: name of the variant, or of an existing program.
        replicate: number of the replicate, from 1; 0: the variant has only one build.
    """

    variant: str
    replicate: int = 0

    @property
    def name(self) -> str:
        """For people, logs and stores: ``gcc-pgo``, ``gcc-pgo#2``."""
        return f"{self.variant}#{self.replicate}" if self.replicate else self.variant

    def __str__(self) -> str:
        return self.name
