"""What a bundled study measured beyond its table: training matrix, throughput by the second, profiles, weights."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.record.events.verdicts import Interval
from burnish.report.bundled.advice import NO_COMPARISON, apart, letters
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.compose import grid, points, section
from burnish.report.document import Section
from burnish.report.sections.bundled import claims
from burnish.report.sections.bundled.cells import of_series
from burnish.report.words import per_cent
from burnish.statistics.means import geometric_mean, quotient

BARS = "▁▂▃▄▅▆▇█"


def sections(table: StudyTable) -> list[Section]:
    """The sections for everything that was recorded beyond the table."""
    result = [*suites_of(table), *matrices(table)]
    result += _timeline(table.extra.get("timeline", ()))
    result += _search(table)
    return [*result, *_profiles(table.extra.get("profile_facts", ())), *_left_out(table)]


def suites_of(table: StudyTable) -> list[Section]:
    """Rows on a suite of tests: the geometric mean of its tests, beside the figure published for the suite."""
    rows: dict[tuple[str, str, str], list[Line]] = {}
    for line in table.lines:
        if line.test:
            rows.setdefault((line.series, line.row, line.reading), []).append(line)
    body = []
    for (series, row, reading), lines in rows.items():
        known = [line.interval for line in lines if line.interval is not None]
        mean = geometric_mean(known)
        if mean is not None:
            name = ", ".join(filter(None, (series, row, reading)))
            body.append((name, claims.published(lines[0]), per_cent(mean), f"{len(known)} of {len(lines)}"))
    head = ("row", "published %", "measured here %", "tests")
    title = "Suites as a whole, geometric mean of their tests"
    return [section("suites", title, grid("suites", head, body, drop=("tests", "published %")))] if body else []


def matrices(table: StudyTable) -> list[Section]:
    """Rows that were measured on several loads, as a matrix with each row's worst cell."""
    result = []
    for series in dict.fromkeys(line.series for line in table.lines):
        rows: dict[str, dict[str, Line]] = {}
        for line in table.lines:
            plain = line.threads is None and not (line.test or line.shows)
            if line.series == series and line.interval is not None and plain:
                rows.setdefault(line.row, {})[line.load] = line
        rows = {row: cells for row, cells in rows.items() if len(cells) > 1}
        if not rows:
            continue
        loads = list(dict.fromkeys(load for cells in rows.values() for load in cells))
        hosts = apart(cells.values() for cells in rows.values())
        body = []
        for row, cells in rows.items():
            worst = min(cells.values(), key=_change)
            worst_text = f"{worst.load} {_change(worst):+.1f}"
            body.append(
                (
                    row,
                    *((letters(cells.values()),) if hosts else ()),
                    *(_cell(cells.get(load)) for load in loads),
                    worst_text,
                )
            )
        title = "trained on (rows), tested on (columns), % over the baseline"
        head = ("", *(("on",) if hosts else ()), *loads, "worst")
        notes = (NO_COMPARISON,) if hosts else ()
        result.append(
            section("matrix", of_series(series, title), grid("matrix", head, body, drop=loads[::-1]), points(notes))
        )
    return result


def _cell(line: Line | None) -> str:
    return "·" if line is None else f"{_change(line):+.1f}"


def _change(line: Line) -> float:
    assert line.interval is not None  # noqa: S101 - callers pass only lines with an interval
    return 100.0 * (line.interval.ratio - 1.0)


def _timeline(events: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Each build's seconds as bars on one scale, with their mean and their range."""
    hosts = dict.fromkeys(event.get("on", "") for event in events)
    return [part for host in hosts for part in _seconds([e for e in events if e.get("on", "") == host], host)]


def _seconds(events: Sequence[Mapping[str, Any]], host: str) -> list[Section]:
    """The bars of one host's builds; `host` is '' if there is only one."""
    runs = {event["build"]: event for event in events if event["seconds"]}
    if not runs:
        return []
    most = max(second["rate"] for event in runs.values() for second in event["seconds"])
    lines = []
    first = statistics.fmean(second["rate"] for second in next(iter(runs.values()))["seconds"])
    for event in runs.values():
        rates = [second["rate"] for second in event["seconds"]]
        mean, p95 = statistics.fmean(rates), statistics.median(second["p95"] for second in event["seconds"])
        bars = "".join(BARS[min(len(BARS) - 1, int(len(BARS) * rate / most))] for rate in rates)
        lines += [
            f"{event['row']}: {bars}",
            (
                f"    mean {mean:,.0f} a second ({min(rates):,.0f} to {max(rates):,.0f}), p95 {1e3 * p95:.3g} ms, "
                f"{100.0 * (mean / first - 1.0):+.1f} % over the first"
            ),
        ]
    lines.append("one run of each build, in sequence: an illustration; the verdicts are in the table")
    loads = ", ".join(dict.fromkeys(event["workload"] for event in runs.values()))
    where = f", on {host}" if host else ""
    return [section("timeline", f"Throughput by the second, {loads}{where}", points(lines))]


def _search(table: StudyTable) -> list[Section]:
    """The rounds of a search for weights, and what the best of them costs against specialised profiles."""
    rounds = table.extra.get("robust", ())
    if not rounds:
        left = [event["why"] for event in table.extra.get("robust_left", ())]
        return [section("weights", "Search for weights", points(left))] if left else []
    loads = list(rounds[0]["weights"])
    body = []
    for event in rounds:
        intervals = _intervals(event)
        worst = min(intervals, key=lambda role: intervals[role].ratio)
        body.append(
            (
                " ".join(filter(None, (str(event["round"]), "+".join(event.get("on", ()))))),
                *(f"{event['weights'][role]:.2f}" for role in loads),
                f"{worst} {per_cent(intervals[worst])}",
                "yes" if event["robust"] else "no",
            )
        )
    best = max(rounds, key=lambda event: (event["robust"], min(value.ratio for value in _intervals(event).values())))
    lines = []
    if best["robust"]:
        lines.append(
            f"Round {best['round']}{_on(best)} is on no load slower than the baseline (within "
            f"{100 * best['delta']:g} %, proved by each interval)."
        )
    else:
        lines.append(
            f"No round was proved to be within {100 * best['delta']:g} % of the baseline on every load; round "
            f"{best['round']}{_on(best)} comes nearest."
        )
    for role in loads:
        row = best["alone"].get(role)
        alone = next((line for line in table.lines if line.row == row and line.load == role and line.interval), None)
        if alone is None or alone.interval is None:
            continue
        mixed = _intervals(best)[role]
        lines.append(
            f"{role}: {per_cent(mixed)} % over the baseline; trained on it alone {per_cent(alone.interval)} %: "
            f"the mix compared with that {per_cent(quotient(mixed, alone.interval))} %"
        )
    head = ("no.", *loads, "worst load, %", "robust")
    return [section("weights", "Search for weights", grid("weights", head, body, drop=loads[::-1]), points(lines))]


def _intervals(event: Mapping[str, Any]) -> dict[str, Interval]:
    """A round's measured interval for each load."""
    return {role: Interval(**value) for role, value in event["intervals"].items()}


def _left_out(table: StudyTable) -> list[Section]:
    """What was left out for lack of time, unless another of the merged records has it."""
    last = table.extra.get("extras", ())[-1:]
    have = {"timeline": "timeline" in table.extra, "profiles": "profile_facts" in table.extra}
    have["search"] = any(event["robust"] for event in table.extra.get("robust", ()))
    left = [item for event in last for item in event["left"] if not have.get(item["name"])]
    lines = points(f"{item['title']}: {item['why']}" for item in left)
    return [section("left-out", "Left out beyond the table", lines)] if left else []


def _on(event: Mapping[str, Any]) -> str:
    """The host of an event in a merged record: a later round's weights depend on one host's figures."""
    hosts = event.get("on", "")
    return f" ({hosts if isinstance(hosts, str) else ', '.join(hosts)})" if hosts else ""


def _profiles(events: Sequence[Mapping[str, Any]]) -> list[Section]:
    """The coverage and the hottest functions of each profile."""
    lines = []
    for profile in {(event["variant"], event.get("on", "")): event for event in events}.values():
        share = 100.0 * profile["counted"] / max(1, profile["functions"])
        trained = ", ".join(dict.fromkeys(load for load, _ in profile["training"])) or "not known"
        hottest = ", ".join(f"{name} {100.0 * part:.0f} %" for name, part in profile["hottest"][:4])
        lines.append(
            f"{profile['variant']}{_on(profile)}: trained on {trained}; {profile['counted']:,} of "
            f"{profile['functions']:,} functions counted ({share:.0f} %), {profile['hot']:,} make "
            f"99 % of all counts; hottest: {hottest}"
        )
    return [section("profiles", "What is in the profiles", points(lines))] if lines else []
