"""The catalogue of configure options: what each engine's build system can be told, with reasons.

An option that is not here is allowed in a recipe all the same, if the engine takes it: the build then says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Self

from pydantic import Field, model_validator

from burnish.base.engine_folders import engine_folders
from burnish.catalogue.edge import Entry, Reason, read_toml, validated
from burnish.model.recipe import Marks

FILE = "options.toml"
"""An engine's options, in its folder."""


@dataclass(frozen=True)
class Option:
    """A configure option.

    Attributes:
        name: as a recipe's ``options`` say it; ``*`` in it stands for a family of options.
        does: what it does.
        reason: why one would want it.
        values: what it can be, or what kind of thing.
        default: what the engine's own build takes.
        where: the file of the source, or the place of the documentation, that knows it.
        marked: values that its marks hold for; empty: any.
        marks: what it costs beyond time.
        untested: gate tests that ask for what a value takes out of the server, by value; the gate leaves them out.
        why_untested: what it is that they ask for; '' where there are none.
    """

    name: str
    does: str
    reason: str
    values: tuple[str, ...]
    default: str
    where: str
    marked: tuple[str, ...]
    marks: Marks
    untested: Mapping[str, tuple[str, ...]]
    why_untested: str


class _Option(Entry):
    does: str = Field(min_length=10)
    reason: Reason
    values: tuple[str, ...] = Field(min_length=1)
    default: str
    where: str
    marked: tuple[str, ...] = ()
    changes_results: bool = False
    narrows_portability: bool = False
    weakens_security: bool = False
    untested: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    why_untested: str = ""

    @model_validator(mode="after")
    def _explained(self) -> Self:
        strangers = sorted(set(self.untested) - set(self.values))
        if strangers:
            raise ValueError(f"untested: {strangers[0]}: none of its values ({', '.join(self.values)})")
        if bool(self.untested) != (len(self.why_untested) >= 10):
            raise ValueError("untested and why_untested belong together: which tests, and what they ask for")
        return self


@cache
def options() -> Mapping[str, Mapping[str, Option]]:
    """All options by engine and name; an engine without the file `options.toml` has none."""
    found = {}
    for folder in engine_folders():
        path = folder.path / FILE
        if path.is_file():
            where = f"{folder.path.name}/{FILE}"
            found[folder.name] = {
                name: read_option(name, value, f"{where}: {name}") for name, value in read_toml(path).items()
            }
    return found


def read_option(name: str, value: Any, where: str) -> Option:
    """An option as its entry in a file says it; a `UserError` names `where`."""
    entry = validated(_Option, value, where)
    marked = {each.name for each in fields(Marks)}
    return Option(name=name, marks=Marks(**entry.model_dump(include=marked)), **entry.model_dump(exclude=marked))


def marks(given: Iterable[tuple[str, str]]) -> Marks:
    """What options cost beyond time, whichever engine they are of (their names differ)."""
    found = Marks()
    for name, value in given:
        for known in options().values():
            for option in known.values():
                if fnmatchcase(name, option.name) and (not option.marked or value in option.marked):
                    found |= option.marks
    return found


@dataclass(frozen=True)
class Untested:
    """Gate tests that a build's options make pointless.

    Attributes:
        option: the option, as in ``WITH_EXTRA_CHARSETS=none``.
        tests: their names.
        why: what they ask for.
    """

    option: str
    tests: tuple[str, ...]
    why: str


def untested(engine: str, given: Iterable[tuple[str, str]]) -> list[Untested]:
    """What the gate of a build with these options leaves out, option by option."""
    known = options().get(engine, {})
    return [
        Untested(f"{name}={value}", known[name].untested[value], known[name].why_untested)
        for name, value in given
        if name in known and value in known[name].untested
    ]


def search(known: Iterable[Option], words: Sequence[str]) -> list[Option]:
    """The options in whose name, description, reason or values all of `words` occur, case aside."""

    def text(option: Option) -> str:
        said = (option.name, option.does, option.reason, option.default, *option.values, *option.marks.words)
        return "\n".join(said).lower()

    return [option for option in known if all(word.lower() in text(option) for word in words)]
