"""The verbs about the artefacts that hosts share: list, push, pull, check."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from burnish.artefacts.shared import SharedStore
from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import group, line, print_document, print_json, say, verb
from burnish.cli.declaration import Argument
from burnish.report.sections import kept as report
from burnish.report.values import kept as values
from burnish.study.kept import runs as studies
from burnish.study.kept import sharing

store = group(
    "store",
    "List, push, pull and check what hosts share.",
    example="burnish store list --artefacts s3://bucket/burnish",
)

_KEYS = Argument(
    "keys", "KEY", "Beginnings of keys.", readers.verbatim, many=True, required=False, unset="all for this host"
)


@verb("list", o.ARTEFACTS, o.JSON, of=store, example="burnish store list --artefacts /net/burnish")
def list_store(artefacts: str | None, as_json: bool) -> None:
    """List what is there: kind, key, size, when it was last used, whether it is for this host."""
    shared = _shared(artefacts)
    held, usable = shared.far.held(), sharing.usable(shared)
    if as_json:
        print_json("store", values.shared(held, usable))
    else:
        print_document(report.shared(held, usable, shared.far.far.url))


@verb(
    "push", _KEYS, o.ARTEFACTS, o.ARTEFACTS_GB, of=store,
    example="burnish store push 0a2882e4 --artefacts s3://bucket/burnish",
)  # fmt: skip
def push(keys: Sequence[str], artefacts: str | None, artefacts_gb: float | None) -> None:
    """Give what is kept here to the other hosts, with what it was made from; nothing made from a user's own data."""
    shared = _shared(artefacts, artefacts_gb, made=True)
    others = 0
    with studies.lock(paths.home()):
        for entry, same in sharing.push(shared, keys):
            others += not same
            line(f"{entry.kind} {entry.key}: {'there' if same else 'another host was first with another; it stays'}")
    if others:
        say(f"{others} entries are another host's; what was made from the ones here was not given either")


@verb("pull", _KEYS, o.ARTEFACTS, of=store, example="burnish store pull --artefacts /net/burnish")
def pull(keys: Sequence[str], artefacts: str | None) -> None:
    """Fetch what other hosts gave and this one can use, without waiting until a run needs it."""
    shared = _shared(artefacts)
    with studies.lock(paths.home()):
        fetched = [held for held, here in sharing.pull(shared, keys) if here]
    say(f"{len(fetched)} entries fetched, {sum(held.size for held in fetched) / 1e6:,.0f} MB")


@verb(
    "check", o.ARTEFACTS, o.REMOVE_DAMAGED, of=store,
    example="burnish store check --artefacts s3://bucket/burnish --remove",
)  # fmt: skip
def check(artefacts: str | None, remove: bool) -> None:
    """Read everything that is there and compare it with its digest; exits with 1 if something is damaged."""
    shared = _shared(artefacts)
    damaged = number = 0
    for held, wrong in shared.far.check():
        number += 1
        if wrong:
            damaged += 1
            line(f"{held.kind} {held.key}: {wrong}{'; removed' if remove else ''}")
            if remove:
                shared.far.discard(held.kind, held.key)
    say(f"{number} entries, {damaged} damaged")
    if damaged and not remove:
        raise typer.Exit(1)


def _shared(artefacts: str | None, gigabytes: float | None = None, *, made: bool = False) -> SharedStore:
    """The store; a `UserError` for a file, and for a folder that is not there unless it is made: it would pass for an
    empty store."""
    shared = sharing.required(sharing.shared_store(paths.home(), artefacts, gigabytes, say))
    place = shared.far.far.folder
    if place is None or place.is_dir():
        return shared
    if place.exists():
        raise UserError(f"{place}: is a file; name a folder, or s3://BUCKET/FOLDER")
    if not made:
        raise UserError(f"{place}: there is no such folder; name the one that hosts share")
    return shared
