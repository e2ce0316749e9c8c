"""Records of a study that ships, put together: one table of the cells of all, and what stands beside it (pure).

Pieces of such a study have one file's rows and each its own selection of them. Of every comparison the table keeps one
entry; a cell that one study alone has measured keeps the verdict that it had there, and one that several have is said
anew with the host as a block (`burnish.study.merge.merged`).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from burnish.base.errors import UserError
from burnish.model.cell import Role
from burnish.study.builds import peaks
from burnish.study.merge import same_plan
from burnish.study.merge.merged import is_canary
from burnish.study.merge.parts import OF_HOST, Body, Part, StartName, Step, canonical

_BY_LOAD = ("designs", "timings", "workloads", "headlines")
"""What a contest says by load or by design: of those that this piece has run."""

_OWN = ("calibrations", "forced", "cells")


def asked(part: Part) -> dict[str, Any]:
    """What must be equal beside the definition, in words that tell which part of the study's file is another."""
    assert part.table is not None  # noqa: S101 - only asked of studies that ship
    names = {f"its {word}": dict.fromkeys(part.table[word], "there") for word in ("series", "readings", "rows")}
    patched = {"architecture": part.table.get("architecture")} if part.table.get("patches") else {}
    return {**names, **patched}


def planned(part: Part) -> dict[str, Any]:
    """The contest as far as it is planned: designs by cell, as a load has one for builds, another for conditions."""
    loads = {name: same_plan.without_conditions(load) for name, load in part.contest.get("workloads", {}).items()}
    # A baseline against itself is one cell, whichever row's design it was mixed in with; no verdict rests on it.
    planned_designs = {cell: design for cell, design in designs(part.starts).items() if not is_canary(cell)}
    return {**part.contest, "designs": planned_designs, "workloads": loads}


def designs(starts: Mapping[StartName, Sequence[Step]]) -> dict[str, str]:
    """The design of each cell, as its starts had it."""
    return {name.cell: str(step.body["design"]) for name, steps in starts.items() for step in steps[:1]}


def check_tried(parts: Sequence[Part]) -> None:
    """Refuses parts that hold different programs against each other in one cell of the table.

    Raises:
        UserError: names the cell, and what either has in it.
    """
    tried = [(part, part.tried, {name.cell for name in part.starts}) for part in parts]
    for (one, mine, begun), (other, its, there) in itertools.combinations(tried, 2):
        for key in sorted(mine.keys() & its.keys()):
            if mine[key] != its[key] and mine[key] in begun and its[key] in there:
                raise UserError(
                    f"merge: {one.name} and {other.name} have different programs in one cell: {mine[key]!r} in the "
                    f"one, {its[key]!r} in the other; measure its row again with the same --release and "
                    "--second-compiler"
                )


def table(parts: Sequence[Part]) -> dict[str, Any]:
    """The table of all: each comparison once, and why those that no part has measured are not among them."""
    bodies = sorted((part.table for part in parts if part.table is not None), key=_largest_first)
    first = min(bodies, key=lambda body: canonical({k: v for k, v in body.items() if k not in ("comparisons", "cut")}))
    ranked: dict[str, list[tuple[bool, bool, str, Body]]] = {}
    for part in parts:
        tried = part.tried
        for each in (part.table or {}).get("comparisons", ()):
            rank = (each["key"] not in tried, each["reason"] is not None, canonical(each), each)
            ranked.setdefault(each["key"], []).append(rank)
    builds = sorted({name for body in bodies for name in body["builds"]} - {"baseline"})
    cut = {}
    for key in sorted(ranked):
        said = [body["cut"].get(key) for body in bodies if any(each["key"] == key for each in body["comparisons"])]
        if all(why is not None for why in said):
            cut[key] = min(said)
    return {
        **first,
        "builds": ["baseline", *builds],
        "comparisons": _in_order([min(each, key=lambda rank: rank[:3])[3] for each in ranked.values()], bodies),
        "cut": cut,
    }


def _largest_first(body: Body) -> tuple[int, str]:
    return -len(body["comparisons"]), canonical(body)


def _in_order(comparisons: Iterable[Body], bodies: Sequence[Body]) -> list[Body]:
    """As a study's file has them: by series, row, reading, load, threads, test."""
    first = bodies[0]
    ranks = {word: {name: n for n, name in enumerate(first[word])} for word in ("series", "rows", "readings")}
    loads: dict[tuple[str, str], int] = {}
    tests: dict[tuple[str, str, str], int] = {}
    for each in (each for body in bodies for each in body["comparisons"]):
        loads.setdefault((each["row"], each["load"]), len(loads))
        tests.setdefault((each["row"], each["load"], each.get("test", "")), len(tests))

    def place(each: Body) -> tuple[int, int, int, int, int, int, str]:
        return (
            ranks["series"].get(each["series"], len(ranks["series"])),
            ranks["rows"].get(each["row"], len(ranks["rows"])),
            ranks["readings"].get(each["reading"], len(ranks["readings"])),
            loads[each["row"], each["load"]],
            each["threads"] or 0,
            tests[each["row"], each["load"], each.get("test", "")],
            each["key"],
        )

    return sorted(comparisons, key=place)


def tried_as(parts: Sequence[Part], whole: Body) -> dict[str, str]:
    """By a comparison's key, the cell that it was tried as, those of the table in its order first."""
    found: dict[str, str] = {}
    for part in parts:
        begun = {name.cell for name in part.starts}
        found |= {key: cell for key, cell in part.tried.items() if cell in begun}
    keys = [each["key"] for each in whole["comparisons"]]
    return {key: found[key] for key in (*keys, *sorted(found.keys() - set(keys))) if key in found}


def contest(parts: Sequence[Part], cells: Iterable[str]) -> dict[str, Any] | None:
    """How it was measured: what all have in common, and what each says of the loads that it has run; None of figures.

    Args:
        parts: the records.
        cells: the cells that have starts, in the table's order.
    """
    every = [part.contest for part in parts if part.contest]
    if not every:
        return None
    common = ({key: each for key, each in body.items() if key not in (*_OWN, *_BY_LOAD)} for body in every)
    by_load = {
        word: {
            name: min((body[word][name] for body in every if name in body.get(word, {})), key=canonical)
            for name in sorted({name for body in every for name in body.get(word, {})})
        }
        for word in _BY_LOAD
    }
    forced = sorted({name for body in every for name in body.get("forced", ())})
    chosen = min(common, key=canonical)
    return {**chosen, **by_load, "cells": list(dict.fromkeys(cells)), "calibrations": [], "forced": forced}


def about_cells(
    whole: Body, tried: Mapping[str, str], again: Mapping[str, str], of_starts: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """By cell, what is known of it without a verdict.

    Args:
        whole: the table.
        tried: by a comparison's key, its cell.
        again: by cell of a best row on fresh starts, its comparison's key.
        of_starts: by cell, its design.
    """
    quantities = {each["key"]: str(each["quantity"]) for each in whole["comparisons"]}
    roles = [(cell, key, Role.CLAIM) for key, cell in tried.items()]
    roles += [(cell, key, Role.CONFIRMATION) for cell, key in again.items()]
    return {
        cell: {"role": str(role), "design": of_starts[cell], "headline": quantities.get(key, "capacity")}
        for cell, key, role in roles
        if cell in of_starts
    }


def kept(parts: Sequence[Part], starts: Iterable[StartName]) -> dict[str, Body]:
    """The verdicts that stay as they were said: of cells whose starts are all of one study on one host."""
    sources: dict[str, set[tuple[str, str]]] = {}
    counts: dict[str, int] = {}
    for name in starts:
        sources.setdefault(name.cell, set()).add((name.host, name.study))
        counts[name.cell] = counts.get(name.cell, 0) + 1
    found = {}
    for cell, own in sources.items():
        said = [part.said[cell] for part in parts if cell in part.said]
        whole = [body for body in said if body["starts"] + body["invalid_starts"] == counts[cell]]
        if len(own) == 1 and whole:
            found[cell] = min(whole, key=canonical)
    return found


def facts(steps: Iterable[Step], labels: Mapping[str, str]) -> list[Step]:
    """What single hosts saw, each with the label of its host where there are several."""
    return [
        Step(step.at, step.kind, {**step.body, "on": labels[step.body["host"]]} if len(labels) > 1 else step.body)
        for step in steps
        if step.kind in OF_HOST
    ]


def figures(steps: Iterable[Step], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Figures without an interval that several hosts have: their mean, each host once, with what each found.

    Args:
        steps: in order of time; of each host the last figure counts.
        labels: hosts' labels by key.
    """
    by_key: dict[str, dict[str, Body]] = {}
    for step in steps:
        if step.kind == "measured":
            by_key.setdefault(step.body["key"], {})[labels[step.body["host"]]] = step.body
    found = []
    for key, by in by_key.items():
        if len(by) < 2:
            continue
        hosts = [{"host": label, "value": by[label]["value"], "base": by[label]["base"]} for label in sorted(by)]
        value, base = (statistics.fmean(each[word] for each in hosts) for word in ("value", "base"))
        parts = ", ".join(f"{each['host']} {peaks.words(each['value'], each['base'])}" for each in hosts)
        note = f"mean of these hosts: {parts}; read off the compiles, so it has no interval"
        words = peaks.words(value, base)
        found.append(
            {"key": key, "value": value, "base": base, "unit": peaks.UNIT, "words": words, "note": note, "hosts": hosts}
        )
    return found


def rounds(
    parts: Sequence[Part], verdicts: Mapping[str, Body], hosts: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The rounds of all searches for weights: of equal weights one, with the intervals that its cells have now.

    Args:
        parts: the records.
        verdicts: by cell, as they are told in the merged record.
        hosts: by cell, the labels of the hosts that it was measured on.
    """
    by_weights: dict[str, list[Body]] = {}
    for body in (body for part in parts for body in part.rounds):
        plain = {word: each for word, each in body.items() if word != "on"}
        by_weights.setdefault(canonical(body["weights"]), []).append(plain)
    found = []
    for same in by_weights.values():
        first = min(same, key=lambda body: (body["round"], canonical(body)))
        cells: Mapping[str, str] = first.get("cells", {})
        intervals = {
            role: _interval(verdicts.get(cells.get(role, "")), own) for role, own in first["intervals"].items()
        }
        on = sorted({label for cell in cells.values() for label in hosts.get(cell, ())})
        robust = all(each["low"] >= 1.0 - first["delta"] for each in intervals.values())
        found.append({**first, "intervals": intervals, "robust": robust, "on": on})
    return sorted(found, key=lambda body: (body["round"], canonical(body["weights"])))


def _interval(verdict: Body | None, own: Body) -> Body:
    """The interval of a verdict's headline; a round's own where there is none."""
    found: Body | None = verdict[verdict["headline"]] if verdict is not None else None
    return own if found is None else found
