"""The verb that shows what is kept, and removes what is too old or too large."""

from __future__ import annotations

from burnish.base import netns, paths, process, storage
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli.common import asker, print_document, print_json, say, verb
from burnish.report.sections import kept as report
from burnish.report.values import kept as values
from burnish.study.kept import cleaning
from burnish.study.kept import runs as studies
from burnish.study.kept.cleaning import DAY_S


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
    for folder in storage.sweep():
        say(f"removed {folder}: a run that was killed had left it")
    with studies.lock(home):
        items = cleaning.inventory(home)
        chosen = cleaning.choose(
            items,
            older_s=None if older_than is None else older_than * DAY_S,
            bound=None if keep_gb is None else int(keep_gb * 1e9),
            unfinished=runs,
        )
        if as_json:
            print_json(values.inventory(items, chosen))
        else:
            print_document(report.inventory(items, chosen, home.root, full=full))
        if not chosen:
            return
        ask = asker()
        what = f"{len(chosen)} entries, {report.megabytes(chosen)} MB"
        if not yes and (ask is None or not ask(f"remove {what}?")):
            raise UserError(f"clean: nothing was removed of {what}; answer yes, or give --yes")
        freed = cleaning.remove(home, chosen)
        say(f"freed {freed / 1e6:,.0f} MB")
