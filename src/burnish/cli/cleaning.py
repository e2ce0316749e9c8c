"""The verb that shows what is kept, and removes what is too old or too much."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.table import Table

from burnish.base import netns, paths, process
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli.common import asker, line, out, print_json, say, verb
from burnish.study import cleaning, studies
from burnish.study.cleaning import DAY_S, Kept


@verb(
    "clean", o.OLDER_THAN, o.KEEP_GB, o.RUNS, o.YES, o.FULL, o.JSON,
    example="burnish clean --older-than 30 --keep-gb 20 --yes",
)  # fmt: skip
def clean(older_than: float | None, keep_gb: float | None, runs: bool, yes: bool, full: bool, as_json: bool) -> None:
    """Show what is kept and how large it is; remove old things.

    Nothing is removed unless an option asks for it, and records of finished runs never are.
    """
    home = paths.home()
    process.sweep()
    for name in netns.sweep():
        say(f"removed network namespace {name}: a run that was killed had left it")
    with studies.lock(home):
        items = cleaning.inventory(home)
        chosen = cleaning.choose(
            items,
            older_s=None if older_than is None else older_than * DAY_S,
            bound=None if keep_gb is None else int(keep_gb * 1e9),
            unfinished=runs,
        )
        if as_json:
            print_json([{**vars(item), "folder": str(item.folder), "goes": item in chosen} for item in items])
        else:
            _print_table(_each(items, chosen) if full else _by_kind(items, chosen))
            line(f"{_megabytes(items)} MB in {home.root}")
        if not chosen:
            return
        ask = asker()
        what = f"{len(chosen)} entries, {_megabytes(chosen)} MB"
        if not yes and (ask is None or not ask(f"remove {what}?")):
            raise UserError(f"clean: nothing was removed of {what}; answer yes, or give --yes")
        freed = cleaning.remove(home, chosen)
        say(f"freed {freed / 1e6:,.0f} MB")


Rows = tuple[Sequence[tuple[str, bool]], Sequence[tuple[str, ...]]]
"""Columns, each with whether it holds figures, and rows."""


def _by_kind(items: Sequence[Kept], chosen: Collection[Kept]) -> Rows:
    """A row for each kind: how many, how large, where, how much of it goes."""
    rows = []
    for kind in dict.fromkeys(item.kind for item in items):
        own = [item for item in items if item.kind == kind]
        going = [item for item in own if item in chosen]
        places = sorted({item.folder.parent for item in own})
        goes = f"{_megabytes(going)} MB go" if going else ""
        rows.append((kind, str(len(own)), _megabytes(own), goes, str(places[0])))
    return (("kind", False), ("entries", True), ("MB", True), ("", False), ("folder", False)), rows


def _each(items: Sequence[Kept], chosen: Collection[Kept]) -> Rows:
    """A row for each thing that is kept."""
    rows = [
        (
            item.kind,
            item.name,
            item.what,
            f"{item.size / 1e6:,.1f}",
            f"{item.age_s / DAY_S:.1f}",
            "goes" if item in chosen else "",
        )
        for item in items
    ]
    columns = ("kind", False), ("name", False), ("what", False), ("MB", True), ("days unused", True), ("", False)
    return columns, rows


def _megabytes(items: Collection[Kept]) -> str:
    return f"{sum(item.size for item in items) / 1e6:,.0f}"


def _print_table(found: Rows) -> None:
    columns, rows = found
    table = Table(box=None, pad_edge=False)
    for name, figures in columns:
        table.add_column(name, justify="right" if figures else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    out.print(table)
