"""What the starts of several records say together: verdicts of a merged record, the host as a block (pure)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from burnish.model.cell import AA, Role
from burnish.record.record import Event
from burnish.statistics import multiplicity
from burnish.statistics.hosts import HostCell
from burnish.statistics.intervals import Interval
from burnish.statistics.sequential import Rule
from burnish.statistics.verdicts import Judgement, Kind
from burnish.study.merge.format_1 import (
    Starts,
    claim_values,
    plain_interval,
    sensitivity_values,
    side_summary,
    starts_of,
)
from burnish.study.trials.replicates import by_replicate
from burnish.study.trials.starts import spoilt

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Gathered:
    """A cell's starts.

    Attributes:
        name: the cell.
        about: what its verdict says beside figures: candidate, workload, design, headline, role, unit.
        hosts: by label, the starts taken there.
        sittings: by label, the starts of each study there, in order.
        replicates: builds of each variant; 0: each was built once.
    """

    name: str
    about: Body
    hosts: Mapping[str, Starts]
    sittings: Mapping[str, Sequence[Starts]]
    replicates: int

    @property
    def invalid(self) -> list[str]:
        """Why starts were invalid."""
        return [why for starts in self.hosts.values() for why in starts.invalid]

    def readings(self, quantity: str) -> list[float]:
        """Readings of ``capacity`` or ``throughput`` of all starts, in order."""
        return [value for each in self.hosts.values() for value in each.of(quantity)]

    def of(self, quantity: str) -> HostCell:
        """Its readings of ``capacity`` or ``throughput``, by host."""
        if self.replicates:
            return HostCell(self.name, {"": _across(self.sittings, quantity, self.replicates)}, unit="replicate")
        return HostCell(self.name, {label: each.of(quantity) for label, each in self.hosts.items() if each.capacity})

    def judge(self, rule: Rule) -> Judgement:
        """Its verdict."""
        cell = self.of(self.about["headline"])
        return spoilt(self.invalid, sum(map(len, cell.readings.values()))) or cell.judge(rule)


def verdicts(
    events: Sequence[Event],
    contest: Body,
    cells: Mapping[str, Body],
    labels: Mapping[str, str],
    *,
    explore: bool,
    kept: Mapping[str, Body] | None = None,
    together: Collection[str] | None = None,
) -> list[tuple[str, dict[str, Any]]]:
    """The events that say what was found, each as its kind and its body: ``verdict`` of each cell, and ``family``.

    Args:
        events: ``start``, ``pair`` and ``start_done`` of all cells, each with its host's key.
        contest: how it was measured.
        cells: by name, what is known of a cell beside its starts.
        labels: hosts' labels by key.
        explore: whether cells are looked through rather than claimed together.
        kept: verdicts that stay as they were said, by cell.
        together: cells that are one family; None: every claim.
    """
    rule = _rule(contest["rule"])
    named = dict.fromkeys((*contest.get("cells", ()), *sorted({event.body["cell"] for event in events})))
    by_cell: dict[str, list[Event]] = {name: [] for name in named}
    for event in events:
        by_cell[event.body["cell"]].append(event)
    found, family = [], []
    for name, mine in by_cell.items():
        if not mine or is_canary(name):
            continue
        gathered = _gather(name, {**_told(name, contest), **cells.get(name, {})}, mine, labels, contest)
        claim = gathered.about["role"] == Role.CLAIM
        taken = max(2, sum(map(len, gathered.of("capacity").readings.values())))
        judged_by = rule if claim else Rule.fixed(taken, delta=rule.delta)
        member: multiplicity.Member = gathered.of(gathered.about["headline"])
        if kept and name in kept:
            body, kind = _as_said(gathered, kept[name], labels), Kind(kept[name]["verdict"])
            member = multiplicity.Cell(name, tuple(gathered.readings(gathered.about["headline"])))
        else:
            judgement = gathered.judge(judged_by)
            body, kind = _verdict(gathered, judgement, judged_by, labels), judgement.kind
        found.append(("verdict", body))
        if claim and (together is None or name in together):
            family.append((member, kind))
    method = multiplicity.exploration if explore else multiplicity.claims
    together = {
        each.name: claim_values(each, Kind.INVALID if alone is Kind.INVALID else each.kind)
        for each, (_, alone) in zip(method([cell for cell, _ in family], rule), family, strict=True)
    }
    return [*found, ("family", {"explore": explore, "cells": together})]


def is_canary(cell: str) -> bool:
    """Whether a cell holds a baseline against itself: its name tells, behind the tag where it has one."""
    return cell.rpartition(": ")[2].startswith(f"{AA} / ")


def _as_said(cell: Gathered, verdict: Body, labels: Mapping[str, str]) -> dict[str, Any]:
    """A verdict as it was said, with the host that said it where the record is of several."""
    told = {"interval": verdict[cell.about["headline"]], "starts": verdict["starts"]}
    hosts = [{"host": label, **told} for label in cell.hosts] if len(labels) > 1 else []
    return {**verdict, "kept": True, "hosts": hosts, "hosts_differ": False}


def _verdict(cell: Gathered, judgement: Judgement, rule: Rule, labels: Mapping[str, str]) -> dict[str, Any]:
    headline = cell.about["headline"]
    read = cell.of(headline)
    ratios = {name: _plainly(cell.of(name), rule) for name in ("capacity", "throughput")}
    ratios[headline] = plain_interval(judgement.interval)
    hosts = read.by_host(rule) if len(labels) > 1 and not cell.replicates and read.finite else {}
    alone = cell.readings(headline)
    return {
        "cell": cell.name,
        **cell.about,
        "verdict": str(judgement.kind),
        "reason": judgement.reason,
        **ratios,
        "starts": judgement.starts,
        "invalid_starts": len(cell.invalid),
        "invalid_pairs": sum(each.invalid_pairs for each in cell.hosts.values()),
        "unsettled": sum(each.unsettled for each in cell.hosts.values()),
        "sd_between": judgement.sd_between if math.isfinite(judgement.sd_between) else None,
        "sensitivity": sensitivity_values(alone) if len(cell.hosts) == 1 and read.finite else [],
        "sides": _sides(cell.hosts.values()),
        "hosts": [
            {"host": label, "starts": len(read.readings[label]), "interval": plain_interval(interval)}
            for label, interval in hosts.items()
        ],
        "hosts_differ": _apart(list(hosts.values())),
    }


def _gather(name: str, about: Body, events: Sequence[Event], labels: Mapping[str, str], contest: Body) -> Gathered:
    by_host: dict[str, list[Event]] = {}
    by_study: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        by_host.setdefault(labels[event.body["host"]], []).append(event)
        by_study.setdefault((labels[event.body["host"]], event.body["study"]), []).append(event)
    sittings: dict[str, list[Starts]] = {}
    for (label, _), mine in by_study.items():
        sittings.setdefault(label, []).append(starts_of(mine))
    replicates = max((len(keys) for keys in contest.get("replicates", {}).values()), default=0)
    ordered = {label: starts_of(by_host[label]) for label in sorted(by_host, key=list(labels.values()).index)}
    return Gathered(name, about, ordered, sittings, replicates)


def _across(sittings: Mapping[str, Sequence[Starts]], quantity: str, count: int) -> list[float]:
    """One reading for each replicate that every host has had: the mean over hosts of the means of its starts."""
    by_host = []
    for studies in sittings.values():
        read: dict[int, list[float]] = {}
        for starts in studies:
            for number, values in enumerate(by_replicate(starts.of(quantity), count)):
                read.setdefault(number, []).extend(values)
        by_host.append({number: statistics.fmean(values) for number, values in read.items()})
    everywhere = [number for number in range(count) if all(number in read for read in by_host)]
    return [statistics.fmean(read[number] for read in by_host) for number in everywhere]


def _told(name: str, contest: Body) -> dict[str, Any]:
    """What is known of a cell whose verdict no record has."""
    tag, _, label = name.rpartition(": ")
    candidate, _, workload = label.rpartition(" / ")
    load = contest.get("workloads", {}).get(workload, {})
    return {
        "role": str(Role.CONFIRMATION if tag else Role.CLAIM),
        "candidate": candidate,
        "workload": workload,
        "design": contest.get("designs", {}).get(workload, "duet"),
        "headline": contest.get("headlines", {}).get(workload, "capacity"),
        "unit": load.get("unit", "transaction"),
        "per_minute": load.get("per_minute", False),
    }


def _plainly(cell: HostCell, rule: Rule) -> dict[str, float] | None:
    return plain_interval(cell.judge(rule).difference) if cell.finite else None


def _apart(intervals: Sequence[Interval]) -> bool:
    """Whether two of the hosts' intervals have nothing in common."""
    return len(intervals) > 1 and max(each.low for each in intervals) > min(each.high for each in intervals)


def _sides(hosts: Iterable[Starts]) -> dict[str, Any]:
    """Of each side, the mean over hosts of what the median pair says there."""
    found: dict[str, list[Any]] = {}
    for starts in hosts:
        for label in starts.pairs[0]["sides"] if starts.pairs else ():
            found.setdefault(label, []).append(side_summary(starts.pairs, label, starts.hardware))
    return {label: _mean(each) for label, each in found.items()}


def _mean(values: Sequence[Any]) -> Any:
    """Values of one shape as one value of that shape, figures averaged over those that have them."""
    if isinstance(values[0], Mapping):
        names = dict.fromkeys(name for each in values for name in each)
        return {name: _mean([each[name] for each in values if name in each]) for name in names}
    return statistics.fmean(values)


def _rule(values: Body) -> Rule:
    known = {each.name for each in fields(Rule)}
    given: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in known
    }
    return Rule(**given)
