"""What a search came to: its path, its effects with intervals, what was not tried, what another hour may bring."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.base.durations import duration
from burnish.record.events.searches import FinalistOn, MainEffect, PriorTaken, SearchBegun, SearchEnded
from burnish.report.analysis.outcome import guarded
from burnish.report.compose import points, row
from burnish.report.document import Column, Heading, Section, Table
from burnish.report.words import plural, some

NAMED = 3
"""Earlier runs that are named."""

FEW = 6
"""Effects, and changes of another hour, in the short report."""

FEW_LEFT = 3
"""Untried levels in the short report; the full one has all."""


def section(begun: SearchBegun | None, ended: SearchEnded | None, *, full: bool = True) -> Section:
    """The section on a search; empty for a study that did not search.

    Args:
        begun: how it was asked.
        ended: what it came to; None: it is not at its end.
        full: with the path, and with every effect.
    """
    if begun is None:
        return Section("search", ())
    if ended is None:
        return Section("search", (Heading("Search"), points([f"{_asked(begun)}; it is not at its end"])))
    effects = ended.effects if full else [one for one in ended.effects if one.low > 1.0 or one.high < 1.0][:FEW]
    columns = (Column("change"), *(Column(head, right=True) for head in ("effect", "95 % interval", "builds")))
    table = Table("search-effects", columns, tuple(row(*_cells(one)) for one in effects))
    lines = [
        *_came(begun, ended, full=full),
        *_trained(ended, full=full),
        *(ended.path if full else ()),
        *_left(ended, full=full),
    ]
    # The short report's first table has the fresh starts; which loads were trained matters where some were not.
    differ = len({one.trained for one in ended.loads}) > 1 or any(not one.weight for one in ended.loads)
    tables = (*([_by_load(ended)] if ended.loads and (full or differ) else []), *((table,) if effects else ()))
    blocks = (Heading("Search"), points(lines), *tables)
    return Section("search", blocks)


def _asked(begun: SearchBegun, *, full: bool = True) -> str:
    budget = f" within {duration(begun.budget)}" if begun.budget is not None else ""
    size = f"{plural(begun.choices, 'choice')}, {plural(begun.size, 'build')} allowed"
    aim = f" for the best {begun.objective}" if begun.objective else ""
    return f"searched {size} ({begun.strategy}){budget}{aim}{_prior(begun, full=full)}"


def _prior(begun: SearchBegun, *, full: bool) -> str:
    """What was taken as prior, and in full from which runs."""
    if not begun.prior:
        return ""
    if begun.taken is None:  # an older record
        return f", beginning with what {' and '.join(begun.prior)} found"
    found = results_taken(begun.prior if full else (), begun.taken)
    return f", in the order of {found}" if found else ""


def results_taken(runs: Sequence[str], taken: PriorTaken) -> str:
    """How many earlier results a prior is, and from where; '' for none.

    Args:
        runs: names of the runs that they are from; empty: these are not named.
        taken: what these say of the space.
    """
    places = [(taken.near, "of this host on these loads"), (taken.elsewhere, "of other hosts or loads")]
    found = [(count, place) for count, place in places if count]
    if not found:  # what these runs found is not in this space
        return ""
    (count, place), *others = found
    where = " and ".join([f"{plural(count, 'earlier result')} {place}", *(f"{n} {other}" for n, other in others)])
    more = len(runs) - NAMED
    names = [*runs[:NAMED], *([f"{more} more"] if more > 0 else [])]
    return f"{where} ({', '.join(names)})" if names else where


def _came(begun: SearchBegun, ended: SearchEnded, *, full: bool) -> list[str]:
    failed = f", {ended.failed} of which could not be measured" if ended.failed else ""
    lines = [f"{_asked(begun, full=full)}: {plural(ended.tried, 'build')} tried in {duration(ended.seconds)}{failed}"]
    if ended.common_failure:
        lines.append(f"every build failed for one reason: {ended.common_failure}")
    if ended.finalist is None:
        lines.append("none was measured again: none was shown to be faster than the baseline in time")
    else:
        what = ", ".join(f"{name}={level}" for name, level in ended.settings.items())
        shown = f"{'' if ended.winner else 'not shown to be '}faster on fresh starts"
        lines.append(f"{ended.finalist} is {what}: {guarded(ended) if ended.slower_on else shown}")
    return lines


def _trained(ended: SearchEnded, *, full: bool) -> list[str]:
    """What the finalist was trained on, and whether it is known what that costs on other loads."""
    if not ended.trained:
        return []
    lines = [f"{ended.finalist} is trained on {', '.join(ended.trained)}"]
    if all(one.trained for one in ended.loads):
        lines.append("what its profile costs on other loads is not known: none was measured; --guard LOAD measures one")
    return lines if full else ["; ".join(lines)]


def _by_load(ended: SearchEnded) -> Table:
    """The finalist's fresh starts by load; of a build with a profile, whether each load was trained."""
    heads = ("load", "counts", *(("trained",) if ended.trained else ()))
    columns = (*map(Column, heads), Column("fresh starts", right=True), Column("95 % interval", right=True))
    rows = []
    for one in ended.loads:
        trained = ("yes" if one.trained else "no",) if ended.trained else ()
        rows.append(row(one.load, f"{one.weight:g}" if one.weight else "guarded", *trained, *_change(one)))
    return Table("search-loads", columns, tuple(rows))


def _left(ended: SearchEnded, *, full: bool) -> list[str]:
    """What was not tried, and what another hour is expected to bring."""
    if not ended.untried:
        return ["every change of the best build that is allowed alone was tried"]
    why = ", ".join(dict.fromkeys(ended.untried.values()))
    names = list(ended.untried)
    return [f"not tried: {some(names, len(names) if full else FEW_LEFT)} ({why})", _hour(ended, full=full)]


def _hour(ended: SearchEnded, *, full: bool) -> str:
    """What another hour is expected to bring, by which changes, and what that is judged by."""
    # Fewer than three effects hardly count beside what is usual (`Desk.spread_of_effects`).
    judged = len(ended.effects) > (0 if ended.hour is None else 2)
    by = "the effects found so far" if judged else "what such changes usually do"
    if ended.hour is None:  # an older record
        return f"another hour would probably bring {100 * ended.another_hour:.1f} %, judged by {by}"
    if not ended.hour:
        return "another hour is not enough for any of these"
    how = "a change counts only where it gains"
    bring = f"another hour would probably bring {100 * ended.another_hour:.1f} %"
    return f"{bring}, by {some(ended.hour, _most(ended.hour, full=full))}, judged by {by} ({how})"


def _most(names: Sequence[str], *, full: bool) -> int:
    """How many of these names are written, or how many before 'and 2 more' and that."""
    return len(names) if full else FEW + 1


def _cells(one: MainEffect) -> tuple[str, ...]:
    return f"{one.choice}={one.level}", *_change(one), str(one.builds)


def _change(one: MainEffect | FinalistOn) -> tuple[str, str]:
    """A ratio and its interval in per cent."""
    percent = [f"{100 * (ratio - 1):+.1f} %" for ratio in (one.ratio, one.low, one.high)]
    return percent[0], f"{percent[1]} to {percent[2]}"
