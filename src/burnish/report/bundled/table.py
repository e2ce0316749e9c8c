"""The table of a bundled study, as values: published, measured here, verdict or reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.model.recipe import Marks
from burnish.record.events.bundled import HostFigure, PublishedFigure, StatedMean
from burnish.record.events.verdicts import HostVerdict, Interval
from burnish.report.analysis.checks import Checks
from burnish.report.analysis.verdict import IDENTICAL, NO_EFFECT, words
from burnish.report.bundled import claims
from burnish.report.bundled.advice import Advice
from burnish.report.bundled.controls import Controls
from burnish.report.quantities import Measured
from burnish.study.trials.repeated import Sitting

OPEN = "not measured yet"
"""Reason of a comparison that no session has reached yet."""


@dataclass(frozen=True)
class Relinked:
    """A small difference again, each start with other link orders of both sides.

    Attributes:
        verdict: the verdict.
        interval: ratio of the line's quantity with its interval; None without valid starts.
        starts: number of valid starts, each with a fresh pair of links.
    """

    verdict: str
    interval: Interval | None
    starts: int


@dataclass(frozen=True)
class Line:
    """One comparison: a cell of the study's table.

    Attributes:
        key: identifies the comparison.
        row: the row's name.
        series: the series' name; '' if there is only one.
        reading: the reading's name; '' if there is only one.
        load: role of its load.
        threads: client threads; None: the load's default.
        published: the published figure in words.
        measured: what was measured here, in words; '' if nothing was.
        verdict: the verdict, ``measured`` for a figure without an interval, or ''.
        reason: the reason for the verdict, or why there is none.
        interval: ratio of the quantity that corresponds to the published figure, with its interval; None without.
        quantity: that quantity.
        together: the verdict corrected for all comparisons, if that differs; else ''.
        starts: valid starts.
        control: whether both sides are the same build.
        settled: whether it has its verdict, or a reason that holds for every session.
        test: which test of a suite it is; '' if the load is not a suite.
        shows: what the host's architecture can show about the row's patch; '' for rows about something else.
        published_unit: unit of the published figure; '' without one.
        hosts: in a record merged from several hosts, the result of each.
        hosts_differ: whether two of those do not overlap.
        cell: the cell whose starts the line is about, which may be shared by other lines; '' without any.
        within: delta, if the difference is proved but also proved to be within ±delta; else None.
        base: what the candidate is compared with: a build, a build under a condition, or a program.
        candidate: a build, a build under a condition, or a program.
        marks: marks of the candidate's build.
        quantities: by name, the result of the same starts for every quantity that was measured; empty without starts.
        sitting: the verdict and intervals of its own sittings, beside those to be repeated; None without a verdict.
        workload: the load's name; '' without a verdict.
        placement: which cores servers and clients had; '' if nothing was measured.
        checks: what its starts show beside the ratio: faults by side, totals, drift.
        relinked: the same with other link orders of both sides; None if that was not measured.
        figure: the published figure as a value; None without one.
        likeness: ``as published``, ``stand-in`` or ``different``; '' if nothing was published or it is unknown.
        unlike: what is not as published, in prose.
        holds: whether the published figure still holds; '' without a claim, or if nothing was measured.
        cut: whether it is open because it was not asked for, or did not fit the budget.
    """

    key: str
    row: str
    series: str
    reading: str
    load: str
    threads: int | None
    published: str
    measured: str
    verdict: str
    reason: str
    interval: Interval | None
    quantity: str
    together: str
    starts: int
    control: bool
    settled: bool
    test: str = ""
    shows: str = ""
    published_unit: str = ""
    hosts: tuple[HostVerdict | HostFigure, ...] = ()
    hosts_differ: bool = False
    cell: str = ""
    within: float | None = None
    base: str = ""
    candidate: str = ""
    marks: Marks = field(default_factory=Marks)
    quantities: Mapping[str, Measured] = field(default_factory=dict)
    sitting: Sitting | None = None
    workload: str = ""
    placement: str = ""
    checks: Checks = field(default_factory=Checks)
    relinked: Relinked | None = None
    figure: PublishedFigure | None = None
    likeness: str = ""
    unlike: tuple[str, ...] = ()
    holds: str = ""
    cut: bool = False

    @property
    def claim(self) -> bool:
        """Whether something was published that can hold or not."""
        return claims.is_claim(self.figure, control=self.control)

    @property
    def identical(self) -> bool:
        """Whether both sides are the same program, so that nothing was measured."""
        return not self.verdict and self.reason.startswith(NO_EFFECT)

    @property
    def corrected(self) -> str:
        """The verdict as corrected for all comparisons; '' without one."""
        return self.together or self.verdict

    @property
    def last(self) -> str:
        """The text of the table's last column: the verdict, ``not measured`` or ``open``."""
        if self.identical:
            return IDENTICAL
        return words(self.verdict, self.within) or ("not measured" if self.settled else "open")


@dataclass(frozen=True)
class StudyTable:
    """A study's result.

    Attributes:
        study: its name.
        title: its title.
        reason: what it replicates.
        sources: the published tables.
        lines: all comparisons in order.
        rows: titles and reasons by row.
        readings: titles and reasons by reading.
        series: reasons by series.
        advice: its recommendations and the result of its controls, in sentences.
        canaries: ratios of the A/A starts that were mixed in.
        extra: what analyses recorded besides the table, by kind.
        patches: facts about the patch, by row that is about one (see `burnish.study.bundled.patches.facts`).
        architecture: the host's, as the kernel names it; '' if the record does not say.
        controls: the pooled result of its negative controls; None without any.
        changed: by variant with patches, the functions that these change, in words.
        advised: the recommendation from each series, as values.
        answers: how many of the published claims still hold, in sentences; empty without claims.
        not_replicated: what the published tables have without any counterpart here, each with title and reason.
        means: means that the publication states, beside what its cells give.
    """

    study: str
    title: str
    reason: str
    sources: tuple[str, ...]
    lines: tuple[Line, ...]
    rows: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, Mapping[str, str]]
    series: Mapping[str, str]
    advice: tuple[str, ...]
    canaries: tuple[float, ...]
    extra: Mapping[str, Sequence[Mapping[str, Any]]]
    patches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    architecture: str = ""
    controls: Controls | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    advised: tuple[Advice, ...] = ()
    answers: tuple[str, ...] = ()
    not_replicated: tuple[Mapping[str, str], ...] = ()
    means: tuple[StatedMean, ...] = ()
