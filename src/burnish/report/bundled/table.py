"""The table of a study that ships: published, measured here, verdict or reason; a pure function of the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from burnish.model.recipe import Marks
from burnish.record.record import Event
from burnish.report import evidence
from burnish.report.bundled.advice import Advice, advice
from burnish.report.bundled.controls import Controls, controls
from burnish.report.verdict import IDENTICAL, NO_EFFECT, delta, within, words
from burnish.report.words import per_cent

OPEN = "not measured yet"


@dataclass(frozen=True)
class Line:
    """One comparison: a cell of the study's table.

    Attributes:
        key: names it.
        row: the row's name.
        series: the series' name, '' where there is one only.
        reading: the reading's name, likewise.
        load: role of its load.
        threads: client threads; None: the load's own.
        published: the published figure in words.
        measured: what was measured here, in words; '' where nothing was.
        verdict: the verdict, ``measured`` for what has no interval, or ''.
        reason: the verdict's sentence, or why there is none.
        interval: ratio of the quantity that answers to the published figure, with its interval; None without.
        quantity: that quantity.
        together: the verdict as one of many, where it is another one.
        starts: valid starts.
        control: whether both sides are the same build.
        settled: whether it has its verdict, or a reason that no other sitting would mend.
        test: which of a suite's tests it is; '' where the load is one.
        shows: what the host's architecture can show of the row's patch; '' of rows about something else.
        published_unit: unit of the published figure; '' without one.
        hosts: in a record put together from several hosts, what each of them says by itself.
        hosts_differ: whether two of those have nothing in common.
        cell: the cell whose starts it tells of, which other lines may tell of too; '' without any.
        within: of a difference that is proved to be within ±delta too, that delta; None of any other.
        base: what the candidate is compared with: a build, a build under a condition, or a program.
        candidate: likewise.
        marks: what the candidate's build costs beyond time.
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
    interval: Mapping[str, float] | None
    quantity: str
    together: str
    starts: int
    control: bool
    settled: bool
    test: str = ""
    shows: str = ""
    published_unit: str = ""
    hosts: tuple[Mapping[str, Any], ...] = ()
    hosts_differ: bool = False
    cell: str = ""
    within: float | None = None
    base: str = ""
    candidate: str = ""
    marks: Marks = field(default_factory=Marks)

    @property
    def identical(self) -> bool:
        """Whether both sides are the same program, so that nothing was measured."""
        return not self.verdict and self.reason.startswith(NO_EFFECT)

    @property
    def last(self) -> str:
        """What stands in the table's last column: the verdict, or that there is a reason."""
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
        readings: likewise by reading.
        series: reasons by series.
        advice: what it recommends, in sentences.
        canaries: ratios of the A/A starts that were mixed in.
        extra: what analyses recorded beyond the table, by kind.
        patches: by row about a patch, what there is to say of that (see `burnish.study.bundled.patches.facts`).
        architecture: the host's, as the kernel names it; '' in records that do not say.
        controls: what its negative controls say together; None without any.
        changed: by variant with patches, which functions these change, in words.
        advised: what it recommends to build with, by series, as values.
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


ANALYSES = ("timeline", "profile_facts", "robust", "robust_left", "extras")
"""Kinds of events that studies record beyond their table."""


def study_table(by: Mapping[str, Sequence[Event]]) -> StudyTable | None:
    """The table of a record's events by kind; None where the record is of no study that ships."""
    if "shipped" not in by:
        return None
    body = by["shipped"][-1].body
    verdicts = {event.body["cell"]: event.body for event in by.get("verdict", ())}
    family = by["family"][-1].body["cells"] if "family" in by else {}
    tried = {event.body["key"]: event.body["cell"] for event in by.get("tried", ())}
    left = {event.body["key"]: event.body for event in by.get("left", ())}
    figures = {event.body["key"]: event.body for event in by.get("measured", ())}
    contest = by["contest"][-1].body if "contest" in by else {}
    marked = {
        event.body["variant"]: Marks(*(bool(event.body.get(each.name)) for each in fields(Marks)))
        for event in by.get("variant", ())
    }
    lines = tuple(
        _line(
            each,
            verdicts.get(tried.get(each["key"], each["cell"])),
            family.get(tried.get(each["key"], each["cell"])),
            figures.get(each["key"]),
            left.get(each["key"]),
            body["cut"].get(each["key"]),
            contest,
            marked.get(each["candidate"], Marks()),
        )
        for each in body["comparisons"]
    )
    again = {event.body["key"]: verdicts.get(event.body["cell"]) for event in by.get("again", ())}
    advised = advice(lines, again, body) if body["recommends"] else []
    negative = controls(lines, delta(contest))
    return StudyTable(
        study=body["study"],
        title=body["title"],
        reason=body["reason"],
        sources=tuple(body["sources"]),
        lines=lines,
        rows=body["rows"],
        readings=body["readings"],
        series=body["series"],
        advice=(*(each.words for each in advised), *([negative.sentence] if negative else [])),
        advised=tuple(advised),
        canaries=tuple(_canaries(by)),
        extra={kind: [event.body for event in by[kind]] for kind in ANALYSES if kind in by},
        patches=body.get("patches", {}),
        architecture=body.get("architecture", ""),
        controls=negative,
        changed={event.body["variant"]: evidence.changed(event.body) for event in by.get("changed", ())},
    )


def _line(
    each: Mapping[str, Any],
    verdict: Mapping[str, Any] | None,
    together: Mapping[str, Any] | None,
    figure: Mapping[str, Any] | None,
    left: Mapping[str, Any] | None,
    cut: str | None,
    contest: Mapping[str, Any],
    marks: Marks,
) -> Line:
    measured, word, interval, starts = "", "", None, 0
    settled = bool(each["final"])
    if verdict is not None:
        interval = verdict[each["quantity"]]
        measured = per_cent(interval) if interval else ""
        word, reason, starts, settled = verdict["verdict"], verdict["reason"], verdict["starts"], True
    elif figure is not None:
        measured, word, reason, settled = figure["words"], "measured", figure["note"], True
    elif each["reason"] is not None:
        reason = each["reason"]
    elif left is not None:
        reason, settled = left["why"], bool(left["final"])
    elif cut is not None:
        reason = cut
    else:
        reason = OPEN
    other = together["verdict"] if together and word and together["verdict"] != word else ""
    return Line(
        key=each["key"],
        row=each["row"],
        series=each["series"],
        reading=each["reading"],
        load=each["load"],
        threads=each["threads"],
        published=each["published_words"],
        measured=measured,
        verdict=word,
        reason=reason,
        interval=interval,
        quantity=each["quantity"],
        together=other,
        starts=starts,
        control=each["control"],
        settled=settled,
        test=each.get("test", ""),
        shows=each.get("shows", ""),
        published_unit=(each["published"] or {}).get("unit", ""),
        hosts=hosts_of(verdict or figure or {}),
        hosts_differ=bool(verdict and verdict.get("hosts_differ")),
        cell=verdict["cell"] if verdict else "",
        within=within(verdict, contest) if verdict else None,
        base=each["base"],
        candidate=each["candidate"],
        marks=marks,
    )


def hosts_of(told: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What each host says by itself; the one that saw a figure alone has its name only."""
    return tuple(told.get("hosts", ())) or tuple({"host": label} for label in [told.get("on")] if label)


def _canaries(by: Mapping[str, Sequence[Event]]) -> list[float]:
    """Capacity ratios of all A/A starts."""
    done = [event.body for event in by.get("start_done", ()) if ": A/A / " in event.body["cell"]]
    return [math.exp(body["capacity"]) for body in done if body["invalid"] is None]
