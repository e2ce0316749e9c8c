"""The catalogue of configure options of each engine's build system, with reasons.

A recipe may also use options that are not listed here; whether the engine accepts them shows in the build.
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
        name: as in a recipe's ``options``; ``*`` in it stands for a family of options.
        does: what it does.
        reason: why one would use it.
        values: its possible values, or their kind.
        default: the default of the engine's own build.
        where: file of the source, or place in the documentation, that defines it.
        marked: values to which its marks apply; empty: all.
        marks: its drawbacks.
        untested: by value, gate tests that need what the value removes from the server; the gate leaves them out.
        why_untested: what those tests need; '' if there are none.
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
        unknown_values = sorted(set(self.untested) - set(self.values))
        if unknown_values:
            raise ValueError(f"untested: {unknown_values[0]}: none of its values ({', '.join(self.values)})")
        if bool(self.untested) != (len(self.why_untested) >= 10):
            raise ValueError("untested and why_untested belong together: which tests, and what they ask for")
        return self


@cache
def options() -> Mapping[str, Mapping[str, Option]]:
    """All options by engine and name; an engine without the file `options.toml` has none."""
    options_by_engine = {}
    for folder in engine_folders():
        path = folder.path / FILE
        if path.is_file():
            where = f"{folder.path.name}/{FILE}"
            options_by_engine[folder.name] = {
                name: read_option(name, value, f"{where}: {name}") for name, value in read_toml(path).items()
            }
    return options_by_engine


def read_option(name: str, value: Any, where: str) -> Option:
    """The option of an entry in a file; errors name `where`."""
    entry = validated(_Option, value, where)
    marked = {field.name for field in fields(Marks)}
    return Option(name=name, marks=Marks(**entry.model_dump(include=marked)), **entry.model_dump(exclude=marked))


def marks(given: Iterable[tuple[str, str]]) -> Marks:
    """The marks of options of any engine (no two engines have options of the same name)."""
    result = Marks()
    for name, value in given:
        for known in options().values():
            for option in known.values():
                if fnmatchcase(name, option.name) and (not option.marked or value in option.marked):
                    result |= option.marks
    return result


@dataclass(frozen=True)
class Untested:
    """Gate tests that do not apply because of a build's option.

    Attributes:
        option: the option, as in ``WITH_EXTRA_CHARSETS=none``.
        tests: names of the tests.
        why: what the tests need.
    """

    option: str
    tests: tuple[str, ...]
    why: str


def untested(engine: str, given: Iterable[tuple[str, str]]) -> list[Untested]:
    """The tests that the gate leaves out for a build with these options, by option."""
    known = options().get(engine, {})
    return [
        Untested(f"{name}={value}", known[name].untested[value], known[name].why_untested)
        for name, value in given
        if name in known and value in known[name].untested
    ]


def search(known: Iterable[Option], words: Sequence[str]) -> list[Option]:
    """The options whose name, description, reason or values contain all of `words`, ignoring case."""

    def text(option: Option) -> str:
        texts = (option.name, option.does, option.reason, option.default, *option.values, *option.marks.words)
        return "\n".join(texts).lower()

    return [option for option in known if all(word.lower() in text(option) for word in words)]
