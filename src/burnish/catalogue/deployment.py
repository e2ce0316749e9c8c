"""The catalogue of deployment choices of each engine: what a user can change without changing what the server promises.

A choice is made of conditions' words (`burnish.workload.conditions`), so that it is measured as any condition is. What
must not be changed stands in the same file, as promises: settings that decide whether a commit survives, what other
transactions see, what a query answers, who may ask. Both are data, so that a search can read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from pydantic import Field

from burnish.base.engine_folders import engine_folders
from burnish.base.errors import UserError, unknown
from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated

FILE = "deployment.toml"
"""An engine's choices and promises, in its folder; in the catalogue's data, choices and promises of any server."""

Need = Literal["reserved huge pages", "transparent huge pages"]
"""What a host must have for a choice to do anything."""


@dataclass(frozen=True)
class Promise:
    """What the server promises, and the settings that would change it.

    Attributes:
        name: of the promise, ``durability``.
        reason: what is promised.
        settings: settings that no choice may name; ``*`` at the end stands for any ending.
        only: of other settings, the only values that a choice may give them: a server takes abbreviations and numbers
            of the others.
    """

    name: str
    reason: str
    settings: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """One way to deploy the server otherwise.

    Attributes:
        name: as on the command line.
        words: the condition's words, ``NAME=VALUE``.
        does: what it does.
        reason: why one would use it.
        costs: what it may cost besides speed; '' if nothing is known.
        source: where it is from; '' for a setting that the user gave.
        needs: what the host must have.
        only_with: a word of the usual condition without which it changes nothing; '': none.
        choice: group of which only one can be taken at a time; '': no group.
    """

    name: str
    words: tuple[str, ...]
    does: str = ""
    reason: str = ""
    costs: str = ""
    source: str = ""
    needs: tuple[Need, ...] = ()
    only_with: str = ""
    choice: str = ""


@dataclass(frozen=True)
class Deployment:
    """An engine's promises and choices, by name."""

    promises: Mapping[str, Promise] = field(default_factory=dict)
    choices: Mapping[str, Choice] = field(default_factory=dict)


class _Promise(Entry):
    reason: Reason | None = None
    settings: tuple[str, ...] = ()
    only: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class _Choice(Entry):
    words: tuple[str, ...] = Field(min_length=1)
    does: str = Field(min_length=15)
    reason: Reason
    source: str = Field(min_length=5)
    costs: str = ""
    needs: tuple[Need, ...] = ()
    only_with: str = ""
    choice: str = ""


class _Ways(Entry):
    choices: dict[str, _Choice]


class _Common(_Ways):
    promises: dict[str, Reason]


class _File(_Ways):
    promises: dict[str, _Promise]
    common: tuple[str, ...] = ()


@cache
def deployments() -> Mapping[str, Deployment]:
    """Promises and choices by engine; an engine without the file has none."""
    found = {}
    shared = validated(_Common, read_toml(ROOT / FILE), FILE)
    for folder in engine_folders():
        path = folder.path / FILE
        if path.is_file():
            where = f"{folder.path.name}/{FILE}"
            read = validated(_File, read_toml(path), where)
            if strange := [name for name in read.common if name not in shared.choices]:
                raise UserError(f"{where}: common: {unknown('choice', strange[0], shared.choices)}")
            choices = read.choices | {name: shared.choices[name] for name in read.common}
            found[folder.name] = Deployment(
                {name: _promise(name, entry, shared.promises, where) for name, entry in read.promises.items()},
                {name: Choice(name, **entry.model_dump()) for name, entry in choices.items()},
            )
    return found


def _promise(name: str, entry: _Promise, reasons: Mapping[str, str], where: str) -> Promise:
    """An engine's promise, with the reason that it gives, or the one of any server's promise of that name."""
    reason = entry.reason or reasons.get(name)
    if reason is None:
        raise UserError(f"{where}: promises.{name}: give a reason; without one go {', '.join(reasons)}")
    return Promise(name, reason, entry.settings, entry.only)


def deployment(engine: str) -> Deployment:
    """An engine's promises and choices; none if it has no server to deploy."""
    return deployments().get(engine, Deployment())
