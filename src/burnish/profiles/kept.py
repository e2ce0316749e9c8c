"""Named profiles: those that a recipe's ``profile = NAME`` and `burnish profile` refer to."""

from __future__ import annotations

import json
import re

from burnish.base.errors import UserError, unknown
from burnish.profiles.stages import Kept
from burnish.record.store import Entry, Store

NAMES = "profile-names.json"
_NAME = re.compile(r"[A-Za-z][\w.+-]{0,63}")
_SHORTEST = 5
"""Minimum number of characters of an abbreviated key."""


def names(store: Store) -> dict[str, str]:
    """By name, the key of every named profile."""
    path = store.root / NAMES
    return {str(name): str(key) for name, key in json.loads(path.read_text()).items()} if path.is_file() else {}


def check_name(store: Store, name: str) -> None:
    """Refuses a name that is invalid or taken."""
    if not _NAME.fullmatch(name):
        raise UserError(f"--name {name}: begin with a letter; then letters, digits, '.', '_', '+', '-' (at most 64)")
    if name in names(store):
        raise UserError(f"--name {name}: profile {names(store)[name]} has that name; take another one")


def give_name(store: Store, name: str, key: str) -> None:
    """Gives a profile a name; the file of names is replaced atomically."""
    by_name = names(store)
    if by_name.get(name) == key:
        return
    check_name(store, name)
    path = store.root / NAMES
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({**by_name, name: key}, indent=1, sort_keys=True))
    partial.replace(path)


def find(store: Store, text: str) -> Entry:
    """The profile called `text`: by name, by key, or by the first characters of a key.

    Raises:
        UserError: there is none, or several; suggests the nearest.
    """
    by_name = names(store)
    if text in by_name:
        return _there(store, by_name[text], f"{text} ({by_name[text]})")
    keys = [entry.key for entry in store.entries() if entry.kind == "profiles"]
    meant = [key for key in keys if key == text or (len(text) >= _SHORTEST and key.startswith(text))]
    if len(meant) == 1:
        return _there(store, meant[0], meant[0])  # it may be listed and damaged
    if not keys:
        raise UserError(f"unknown profile {text!r}; there is none yet: train one (pgo = true) or import one")
    raise unknown("profile", text, [*by_name, *(meant or keys)])


def _there(store: Store, key: str, called: str) -> Entry:
    """The profile of this key; a `UserError` if the store does not have it whole."""
    entry = store.find("profiles", key)
    if entry is None:
        raise UserError(f"profile {called} is no longer in the store; train or import it again")
    return entry


def as_kept(name: str, entry: Entry) -> Kept:
    """The facts about a profile that planning needs."""
    about = entry.about
    return Kept(
        name=name,
        key=entry.key,
        engine=about["engine"],
        kind=about["kind"],
        source=about.get("source"),
        toolchain=about.get("toolchain"),
        second_round=bool(about.get("context_sensitive")),
    )


def name_of(store: Store, key: str) -> str:
    """A profile's names, separated by commas; '' if it has none."""
    return ", ".join(sorted(name for name, its in names(store).items() if its == key))
