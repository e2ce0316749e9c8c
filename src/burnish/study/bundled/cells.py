"""The comparisons of a study on an engine: which build or condition is held against which, under what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.catalogue.published import Figure
from burnish.catalogue.study_model import Study, StudyRow
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Workload
from burnish.study.cells import Cell, own_design

RELEASE = "release"
"""Name of the build that a distribution made."""

AGAIN = "again"
"""Behind a build's name: the same build once more, as an A/A control."""

BASELINE = "baseline"


@dataclass(frozen=True)
class Comparison:
    """One comparison of a study: a cell of its table.

    Attributes:
        row: the row's name.
        series: the series' name, '' where there is one only.
        reading: the reading's name, likewise.
        load: role of its load; '' where nothing is loaded.
        threads: client threads; None: the load's own.
        base: build that it is held against, by name.
        candidate: its build, by name.
        given: condition of both sides.
        versus: what sets the candidate's condition apart.
        workload: the load at that many threads; None where nothing is loaded.
        quantity: which reading answers to the published figure.
        design: trial design; None: the load's, or that for conditions.
        published: the figure, where one was published.
        control: whether both sides are the same build.
        measure: what is read off the builds instead.
        objects: for which objects.
        release: whether the candidate is a release binary.
        reason: why nothing is measured, where that is known beforehand.
        final: whether that reason holds whatever is installed or asked.
        test: which of a suite's tests it is; '' where the load is one.
        shows: what this architecture can show of the row's patch; '' of rows about something else.
    """

    row: str
    series: str
    reading: str
    load: str
    threads: int | None
    base: str
    candidate: str
    given: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    workload: Workload | None = None
    quantity: str = "capacity"
    design: Design | None = None
    published: Figure | None = None
    control: bool = False
    measure: str | None = None
    objects: tuple[str, ...] = ()
    release: bool = False
    reason: str | None = None
    final: bool = False
    test: str = ""
    shows: str = ""

    @property
    def group(self) -> str:
        """What cells that share a baseline's canaries have in common; part of a cell's name."""
        return ", ".join([self.base, *self.given])

    @property
    def label(self) -> str:
        """The candidate's name in its contest: build and condition."""
        words = [self.candidate, *self.versus]
        return f"{self.candidate} {AGAIN}" if self.control else ", ".join(words)

    @property
    def key(self) -> str:
        """Names the cell of the study's table."""
        return " / ".join(self._place)

    @property
    def title(self) -> str:
        """The same for people: what there is of series, row, reading, load, threads and test."""
        return ", ".join(filter(None, self._place))

    @property
    def _place(self) -> tuple[str, ...]:
        words = (self.series, self.row, self.reading, self.load, str(self.threads or ""))
        return (*words, self.test) if self.test else words

    @property
    def cell(self) -> Cell | None:
        """The cell of a contest, where there is something to try.

        Where a reason stands in its place, nothing is known of its builds, and the names that it has instead may be
        another comparison's.
        """
        if self.workload is None or self.measure is not None or self.reason is not None:
            return None
        design = self.design or own_design(self.workload, conditions=bool(self.versus))
        return Cell(self.label, self.workload, design, self.quantity, tag=self.group)


@dataclass(frozen=True)
class Table:
    """A study's comparisons on an engine.

    Attributes:
        study: the study.
        engine: the engine.
        comparisons: all of them, in the order in which they are made.
        variants: the builds that they need, by name, the baseline first.
        instrumented: names of builds that end with the stage that writes a profile.
        architecture: the host's, as the kernel names it, on which it depends what patches can show.
    """

    study: Study
    engine: EngineSpec
    comparisons: tuple[Comparison, ...]
    variants: Mapping[str, Variant]
    instrumented: frozenset[str] = frozenset()
    architecture: str = ""

    def row(self, name: str) -> StudyRow:
        """The row of that name."""
        return next(row for row in self.study.rows_for(self.engine.name) if row.name == name)
