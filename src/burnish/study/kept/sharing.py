"""The store of a home, shared with other hosts where the user says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from burnish.artefacts import open_artefacts
from burnish.artefacts.bounding import Held
from burnish.artefacts.shared import SHARED, SharedStore, shareable, this_host
from burnish.base.errors import UserError, unknown
from burnish.base.paths import Home
from burnish.builds.arriving import unfit
from burnish.record.store import Entry, Store
from burnish.study.request.options import Options

VARIABLE = "BURNISH_ARTEFACTS"
"""Environment variable with the URL, where --artefacts does not say one."""

NONE = "none"
"""Instead of a URL: nothing is shared."""

Say = Callable[[str], None]


def url_of(named: str | None) -> str | None:
    """The URL of the artefacts: as named, or the environment's; None: nothing is shared."""
    url = named or os.environ.get(VARIABLE) or NONE
    return None if url == NONE else url


def shared_store(home: Home, named: str | None, gigabytes: float | None, say: Say) -> SharedStore | None:
    """The home's store with what other hosts have; None if nothing is shared.

    Args:
        home: the home.
        named: URL as the user gave it.
        gigabytes: how large the artefacts may become; None: not bounded from here.
        say: called with lines for the user.

    Raises:
        UserError: see `open_artefacts`.
    """
    url = url_of(named)
    if url is None:
        return None
    far = open_artefacts(url, None if gigabytes is None else int(gigabytes * 1e9))
    return SharedStore(home.store, far, this_host(home.root), say, unfit)


def store_of(home: Home, options: Options, *, fetches: bool = True) -> Store:
    """The store of a study; what it has to say, it says to nobody until it is given a `say`.

    Args:
        home: the home.
        options: what the user requested.
        fetches: whether what only another host has is fetched; False: a plan counts it as there.
    """
    store = shared_store(home, options.artefacts, options.artefacts_gb, lambda _: None)
    if store is None:
        return Store(home.store)
    store.fetches = fetches
    return store


def push(store: SharedStore, keys: Sequence[str]) -> Iterator[tuple[Entry, bool]]:
    """Gives entries of the home to the other hosts; yields each, and whether they have the same then. One that has
    changed since it was made is not given; the store names it.

    Args:
        store: the store.
        keys: beginnings of keys; empty: everything that may be given.

    Raises:
        UserError: there is no such entry.
    """
    entries = [entry for entry in store.entries(*SHARED) if shareable(entry)]
    for key in keys:
        if not any(entry.key.startswith(key) for entry in entries):
            raise unknown("entry", key, [entry.key for entry in entries])
    for entry in entries:
        if not keys or entry.key.startswith(tuple(keys)):
            whole = store.named(entry.kind, entry.key, thorough=True)
            if whole is not None:
                yield whole, store.push(whole)


def usable(store: SharedStore) -> list[Held]:
    """What is there that has a name for this host."""
    return [held for held in store.far.held() if held.key in store.host.names(held.kind, held.local)]


def pull(store: SharedStore, keys: Sequence[str]) -> Iterator[tuple[Held, bool]]:
    """Fetches what is not here yet; yields each, and whether it is here then. Nothing is given to other hosts.

    Args:
        store: the store.
        keys: beginnings of keys, also of what hosts of a study share; empty: everything that has a name for this host.

    Raises:
        UserError: there is no such entry for this host.
    """
    store.gives = False
    there = usable(store)
    if keys:
        there += [held for held in store.far.held() if held.kind in SHARED and held.local == held.key]
    for key in keys:
        if not any(held.key.startswith(key) for held in there):
            raise unknown("entry for this host", key, [held.local for held in there])
    for held in there:
        key = held.local
        if (not keys or key.startswith(tuple(keys))) and not Store.has(store, held.kind, key):
            fetched = store.find(held.kind, key) or (store.bring(held.kind, key) if key == held.key else None)
            yield held, fetched is not None


def required(store: SharedStore | None) -> SharedStore:
    """The store; a `UserError` if no URL is known."""
    if store is None:
        raise UserError(
            f"no artefacts are named; give --artefacts URL, a folder or s3://BUCKET/FOLDER, or set {VARIABLE}"
        )
    return store
