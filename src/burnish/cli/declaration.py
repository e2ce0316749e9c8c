"""Declarations of verbs: arguments and options as values, each with a reader for its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from burnish.base.errors import UserError, together
from burnish.cli import readers
from burnish.cli.readers import Reader

Completer = Callable[[typer.Context, str], list[str]]
"""Takes the command line so far and the beginning of a word; returns the words that complete it."""

YES = "yes"
"""Field of --yes, which every verb takes: a checkout's launcher accepts it on its first use with any verb."""

CONFIG = "config"
"""Field of --config, which every verb takes: the settings file (see `burnish.cli.config`)."""


@dataclass(frozen=True)
class Option:
    """One option of the command line.

    Attributes:
        field: the parameter of a verb's function that gets its value; where possible a
            field of `Options` (`burnish.study.request.options`).
        flags: its spellings, the long one first.
        help: what it does, in a sentence.
        reader: converts its words to a value; None: it takes no words, and its value is whether it was given.
        value: placeholder for its words in help, such as ``NAME``.
        default: words that are read where it was not given; "": there are none.
        unset: description of the default for help, if `default` can't express it.
        same: other spellings that mean the same and stay.
        old: the previous version's spellings, which still work and print the new one.
        many: whether it may be repeated to add values.
        required: whether it must be given.
        common: whether `--help` shows it even for a verb with many options.
        panel: heading under which help shows it.
        complete: completes its words in a shell.
    """

    field: str
    flags: tuple[str, ...]
    help: str
    reader: Reader | None = None
    value: str = ""
    default: str = ""
    unset: str = ""
    same: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    many: bool = False
    required: bool = False
    common: bool = False
    panel: str = ""
    complete: Completer | None = None

    @property
    def name(self) -> str:
        """The long spelling."""
        return self.flags[0]

    def value_of(self, words: Sequence[str]) -> Any:
        """What these words say; `words` is empty where it was not given."""
        return _value(self, self.name, words)


@dataclass(frozen=True)
class Argument:
    """One positional argument of a verb.

    Attributes:
        field: the parameter of the verb's function that gets its value.
        value: its placeholder in help, such as ``ENGINE``.
        help: what it is, in a sentence.
        reader: converts its words to a value.
        default: words that are read where it was not given; "": there are none.
        unset: description of the default, for help.
        many: whether it takes all remaining words.
        required: whether it must be given.
        complete: completes it in a shell.
    """

    field: str
    value: str
    help: str
    reader: Reader = readers.text
    default: str = ""
    unset: str = ""
    many: bool = False
    required: bool = True
    complete: Completer | None = None

    def value_of(self, words: Sequence[str]) -> Any:
        """What these words say; `words` is empty where it was not given."""
        return _value(self, self.value, words)


def _value(declared: Option | Argument, name: str, words: Sequence[str]) -> Any:
    given = tuple(words) or tuple(filter(None, (declared.default,)))
    if declared.reader is None:
        return bool(given)
    if not given:
        return () if declared.many else None
    return declared.reader(name, given)


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        name: its name on the command line, without the group's.
        help: what it does: one sentence, then details.
        arguments: its arguments, in the order on the command line.
        options: its options, in the order of its help.
        example: an example of its use (see `burnish.cli.help.filled`).
        resumes: whether the same command resumes interrupted work.
        hidden: whether lists of verbs leave it out.
        refused: options of other verbs that it accepts only to explain why it can't use them; not in its help.
    """

    name: str
    help: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    example: str
    resumes: bool = False
    hidden: bool = False
    refused: tuple[Option, ...] = ()

    def __iter__(self) -> Iterator[Argument | Option]:
        """Arguments, then options."""
        yield from self.arguments
        yield from self.options

    def values(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The value of every argument and option, by field.

        Args:
            given: the words given for each field; no entry, or an empty one: none were. For an option without words,
                any word means that it was given.

        Raises:
            UserError: one line for each invalid value.
        """
        values: dict[str, Any] = {}
        problems = []
        for declared in (*self, *self.refused):
            try:
                values[declared.field] = declared.value_of(given.get(declared.field, ()))
            except UserError as error:
                problems.append(error)
        if problems:
            raise together(problems)
        return values

    def renamed(self, words: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
        """The words with each option's own spelling, and the pairs (old, new) of the previous version's."""
        outdated = {old: option.name for option in self.options for old in option.old}
        spellings = {**outdated, **{same: option.name for option in self.options for same in option.same}}
        changed: dict[str, str] = {}
        every = []
        rest = iter(words)
        for word in rest:
            if word == "--":
                every += [word, *rest]
                break
            name, equals, value = word.partition("=")
            if name in outdated:
                changed[name] = spellings[name]
            every.append(f"{spellings.get(name, name)}{equals}{value}")
        return every, list(changed.items())
