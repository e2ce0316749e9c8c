"""What a verb is declared from: arguments and options as values, each with what reads its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from burnish.base.errors import UserError, together
from burnish.cli import readers
from burnish.cli.readers import Reader

Completer = Callable[[typer.Context, str], list[str]]
"""From the call so far and the beginning of a word to the words that may stand there."""

YES = "yes"
"""Field of --yes, which every verb takes: the launcher asks for it on first use, whatever the verb."""


@dataclass(frozen=True)
class Option:
    """One option of the command line.

    Attributes:
        field: the parameter of a verb's function that gets its value; one of `Options`
            (`burnish.study.request.options`) where that has it.
        flags: how it is typed, the long one first.
        help: what it does, in a sentence.
        reader: what makes a value of its words; None: it takes none, and its value is whether it was given.
        value: what stands for its words in help, as in ``NAME``.
        default: words that are read where it was not given; "": there are none.
        unset: what holds then, where that can't be said by a default; for help.
        old: spellings of the version before, which work and say the new one.
        many: whether it may be given again, to add to what is there.
        required: whether it must be given.
        common: whether it is in the help of a verb that has too many to show at once.
        panel: heading under which help shows it.
        complete: what completes its words in a shell.
    """

    field: str
    flags: tuple[str, ...]
    help: str
    reader: Reader | None = None
    value: str = ""
    default: str = ""
    unset: str = ""
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
    """One argument of a verb, known by its place.

    Attributes:
        field: the parameter of the verb's function that gets its value.
        value: how help calls it, as in ``ENGINE``.
        help: what it is, in a sentence.
        reader: what makes a value of its words.
        default: words that are read where it was not given; "": there are none.
        unset: what holds then, for help.
        many: whether it takes all words that are left.
        required: whether it must be given.
        complete: what completes it in a shell.
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
        name: as it is typed, without the group's.
        help: what it does: a sentence, then what else there is to say.
        arguments: in the order in which they are typed.
        options: in the order in which help shows them.
        example: a call of it, as it is typed (see `burnish.cli.help.filled`).
        resumes: whether the same command takes up work that was interrupted.
        hidden: whether lists of verbs leave it out.
        refused: options of other verbs that it takes only to say why it can't have them; not in its help.
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
        """The value of every argument and option by its field.

        Args:
            given: by field the words that were given; no words, or no entry: none were. Of an option without words
                whether it was given: any word.

        Raises:
            UserError: what is wrong with them, a line for each.
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
        """The words with this version's spellings for the last one's, and (old, new) of those that were changed."""
        spellings = {old: option.name for option in self.options for old in option.old}
        changed: dict[str, str] = {}
        every = []
        rest = iter(words)
        for word in rest:
            if word == "--":
                every += [word, *rest]
                break
            name, equals, value = word.partition("=")
            if name in spellings:
                changed[name] = spellings[name]
            every.append(f"{spellings.get(name, name)}{equals}{value}")
        return every, list(changed.items())
