"""Comparisons: which build or condition is compared with which, on what load, under what condition."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.catalogue.bundled.likeness import Likeness
from burnish.catalogue.bundled.published import Figure
from burnish.model.cell import AA, CellId, ComparisonId, Role
from burnish.model.workload import Design, Placement, Workload
from burnish.study.cells import Cell, own_design, own_placement
from burnish.study.request.placing import Placing, design_for

RELEASE = "release"
"""Name of the build that a distribution made."""

BASELINE = "baseline"

Unit = tuple[str, str]
"""(series, row): the smallest part of a study that a budget includes or leaves out."""


@dataclass(frozen=True)
class Comparison:
    """One comparison of a study: two sides under one load.

    Attributes:
        row: the row's name: in a bundled study as in its file, else the candidate, the load or the design.
        series: the series' name, '' where there is one only.
        reading: the reading's name, '' where there is one only.
        load: the load's role in a bundled study, else its name; '' where nothing is loaded.
        threads: client threads, where the row has a ladder of them; None: the load's own number.
        base: name of the build or program that ratios are against.
        candidate: name of the other build or program; `AA`: the base again.
        given: condition of both sides, in words.
        versus: how the candidate's condition differs, in words.
        workload: the load at that many threads; None where nothing is loaded.
        quantity: which quantity the verdict is about; None: the one that the design measures (see `Workshop.cell`).
        design: trial design; None: the load's, or that for conditions.
        placement: which cores servers and clients have; None: the load's own, or the design's.
        published: the figure, where one was published.
        control: whether both sides are the same build.
        measure: what is read from the builds instead of a trial.
        objects: for which objects.
        release: whether the candidate is a release binary.
        reason: why nothing is measured, where that is known beforehand.
        final: whether that reason holds regardless of what is installed or requested.
        test: which of a suite's tests it is; '' where the load is one.
        shows: what this architecture can show of the row's patch; '' for rows that are not about a patch.
        role: the purpose of its cell.
        starts: a number of starts of its own; None: the study's rule decides.
        candidate_name: what the candidate is called in its cell; '': build and condition.
        own_base: whether cells of the study have bases and conditions of their own, which are part of their identity.
        by_design: whether the design is part of the cell's identity (`calibrate`).
        likeness: how it relates to what was published; None where nothing was.
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
    quantity: str | None = "capacity"
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
    role: Role = Role.CLAIM
    starts: int | None = None
    candidate_name: str = ""
    own_base: bool = False
    by_design: bool = False
    placement: Placement | None = None
    likeness: Likeness | None = None

    @property
    def unit(self) -> Unit:
        """The part of the study that a budget includes or leaves out with it."""
        return self.series, self.row

    @property
    def against_itself(self) -> bool:
        """Whether the base is compared with itself, as a calibration does."""
        return self.candidate == AA

    @property
    def usual(self) -> bool:
        """Whether both sides run under the default condition, the only one that calibrations are made in."""
        return not self.given and not self.versus

    @property
    def id(self) -> ComparisonId:
        """Which comparison of the study it is."""
        return ComparisonId(self.row, self.series, self.reading, self.load, self.threads, self.test)

    @property
    def key(self) -> str:
        """Name for tables and machines."""
        return self.id.key

    @property
    def title(self) -> str:
        """Name for people: whichever of series, row, reading, load, threads and test are set."""
        return self.id.title

    @property
    def group(self) -> tuple[str, ...]:
        """The baseline's build and condition, by which comparisons are grouped."""
        return (self.base, *self.given)

    @property
    def label(self) -> str:
        """The candidate's name in its cell: build and condition."""
        return self.cell_id.label

    @property
    def cell_id(self) -> CellId:
        """The cell of the trials, as planned; for a release binary the program found is added to it later."""
        several = self.own_base
        return CellId(
            candidate=self.candidate_name or self.candidate,
            workload=self.workload.name if self.workload is not None else "",
            role=self.role,
            base=self.base if several else "",
            given=self.given if several else (),
            versus=() if self.candidate_name else self.versus,
            control=self.control,
            design=str(self.design) if self.by_design and self.design else "",
            placement=self._named_placement,
        )

    @property
    def _named_placement(self) -> str:
        """The placement as part of the cell's identity; '' if it is the design's, or that of all cells of the study."""
        if self.workload is None or self.placement is None or not (self.own_base or self.by_design):
            return ""
        usual = self.placement is own_placement(self.workload, self._usual_design)
        return "" if usual else str(self.placement)

    @property
    def _usual_design(self) -> Design:
        """The design if no placement is named."""
        assert self.workload is not None  # noqa: S101 - it is tried
        return self.design or own_design(self.workload, conditions=bool(self.versus))

    def as_asked(self, asked: Placing) -> Comparison:
        """The same comparison in the placement that was asked for, as far as it can be measured in it.

        Conditions are not compared in a duet, as they move work to the client (`burnish.study.cells.own_design`).
        """
        if asked.placement is None or self.workload is None:
            return self
        if asked.placement is Placement.SHARED and (self.versus or self.design not in (None, Design.DUET)):
            return self
        kept = self.design is not None and self.design.allows(asked.placement)
        return replace(self, placement=asked.placement, design=self.design if kept else None)

    @property
    def cell(self) -> Cell | None:
        """The cell of its trial; None if there is no trial.

        A comparison with a reason has no cell: its builds are not known, and the names in their place may be those of
        another comparison.
        """
        if self.workload is None or self.measure is not None or self.reason is not None:
            return None
        design = self._usual_design if self.placement is None else design_for(self.placement, self._usual_design)
        placement = self.placement or own_placement(self.workload, design)
        return Cell(self.cell_id, self.workload, design, self.quantity or "capacity", placement)
