"""A settings file, found and read; what it gives to a call, and the call's words with it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.base.errors import UserError
from burnish.cli import readers
from burnish.cli.config.keys import ENGINE, NAME, PER_CALL, Verbs, keys, taken, verbs_of
from burnish.cli.declaration import Argument, Option, Verb

if TYPE_CHECKING:
    from burnish.record.events.study import Configured

VARIABLE = "BURNISH_CONFIG"
"""Environment variable that names the file, where --config does not."""

NONE = "none"
"""Instead of a file: none is read."""


@dataclass(frozen=True)
class Settings:
    """A settings file.

    Attributes:
        file: its path.
        sha256: digest of its content.
        words: by key, the words that say its value; paths are relative to the current folder, or absolute.
    """

    file: Path
    sha256: str
    words: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Given:
    """What a settings file gives to a verb.

    Attributes:
        settings: the file; None: there is none, or it does not apply.
        words: by field of the verb's declaration.
        note: why a file that was found is not used; empty if there is nothing to say.
    """

    settings: Settings | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""


@dataclass
class _Call:
    configured: Configured | None = None
    repeated: bool = False
    earlier: Configured | None = None


call = _Call()
"""What a settings file gave to the call that is being executed, for what it prints as JSON; and whether it repeats an
earlier one, whose words were taken then: what a settings file gave to that one stands among them."""


@contextlib.contextmanager
def repeating(earlier: Configured | None = None) -> Iterator[None]:
    """Within it, calls repeat an earlier one.

    Args:
        earlier: what of its words a settings file gave; None if that is not known, or nothing.
    """
    before = call.repeated, call.earlier
    call.repeated, call.earlier = True, earlier
    try:
        yield
    finally:
        call.repeated, call.earlier = before


def named(typed: Sequence[str]) -> str | None:
    """The file that --config names in words of a command line."""
    for place, word in enumerate(typed):
        if word == "--config" and place + 1 < len(typed):
            return typed[place + 1]
        if word.startswith("--config="):
            return word.partition("=")[2]
    return None


def find(name: str | None) -> tuple[Path | None, str]:
    """The settings file, and why one that was found is not used.

    Args:
        name: as given by --config; None: the environment's, else the first in the current folder and those above.

    Raises:
        UserError: there is no file of this name.
    """
    chosen, by = (name, "--config") if name is not None else (os.environ.get(VARIABLE) or None, VARIABLE)
    if chosen == NONE:
        return None, ""
    if chosen is not None:
        path = Path(chosen).expanduser()
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "there is no such file"
            raise UserError(f"{by} {chosen}: {what}; name a settings file (`burnish init` writes one), or '{NONE}'")
        return path, ""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return None, ""
    for folder in (here, *here.parents):
        path = folder / NAME
        if path.is_file():
            note = _foreign(path)
            return (None, note) if note else (path, "")
    return None, ""


def _foreign(path: Path) -> str:
    """Why a file that nobody named is not trusted: in a folder that many share anybody can put one, and it may name
    sources to build. Empty if it is."""
    about = path.stat()
    owners = {0, os.getuid(), int(os.environ.get("SUDO_UID", "0"))}
    if about.st_uid not in owners:
        return f"{path}: is not used, as it belongs to another user; --config {path} uses it"
    if about.st_mode & 0o002:
        return f"{path}: is not used, as everybody can write to it; --config {path} uses it"
    return ""


def read(path: Path, known: Mapping[str, Option]) -> Settings:
    """The settings of a file.

    Raises:
        UserError: it can't be read, has an unknown key or a value that its option does not take.
    """
    from burnish.catalogue.edge import read_toml, validated
    from burnish.cli.config.model import model

    value = read_toml(path)
    for key in value:
        reason = PER_CALL.get(f"--{key}")
        if reason is not None:
            raise UserError(
                f"{path}: '{key}' can't be a key ({reason}); leave it out and type --{key} where it is wanted"
            )
    content = validated(model(known), value, str(path)).model_dump(by_alias=True)
    words = {key: _placed(known[key], value, path.parent) for key, value in content.items() if value}
    return Settings(path, hashlib.sha256(path.read_bytes()).hexdigest(), words)


_FILE = re.compile(r"(?:^|(?<=[:,]))[^:,=]*\.(?:lua|sql)\b|(?<==)\.\.?/[^:,]*")
"""A load's file in a word, by itself or within a mix, or a parameter that is a path."""


def _at(folder: Path, word: str) -> str:
    """A path that is relative to a folder, as it is where that is the current one."""
    path = Path(word).expanduser()
    return str(path if folder in (Path(), Path.cwd()) else folder.absolute() / path)


def _placed(option: Option, words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Words with paths that are relative to the file's folder."""
    return with_paths(option, words, lambda word: _at(folder, word))


def with_paths(option: Option, words: Sequence[str], change: Callable[[str], str]) -> tuple[str, ...]:
    """An option's words with every path in them changed."""
    if option.reader is readers.path:
        return tuple(map(change, words))
    if option.reader is readers.paths:
        return tuple(change(word) for text in words for word in text.split(","))
    if option.reader is readers.url:
        return tuple(word if "://" in word or word == NONE else change(word) for word in words)
    if option.reader is readers.workloads:  # files are told by their suffix, here as in a word of the command line
        return tuple(_FILE.sub(lambda found: change(found[0]), word) for word in readers.workloads(option.name, words))
    if option.reader is readers.names:  # of runs, or of their records
        from burnish.record.lines import is_file_name

        return tuple(change(word) if is_file_name(word) else word for text in words for word in text.split(","))
    return tuple(words)


def given(verbs: Verbs, path: tuple[str, ...], verb: Verb, typed: Sequence[str], name: str | None = None) -> Given:
    """What the settings file gives to a verb.

    Args:
        verbs: every verb.
        path: the words that call this one.
        verb: its declaration.
        typed: the words behind these.
        name: the file that stands before the verb's words; None: none does.

    Raises:
        UserError: the file is wrong.
    """
    from burnish.catalogue import load

    known = keys(verbs)
    takes = taken(path, verb, known)
    if not takes:
        return Given()
    file, note = find(named(typed) or name)
    if file is None:
        return Given(note=note)
    settings = read(file, known)
    engine = settings.words.get(ENGINE, ("",))[-1]
    other = [word for word in (word.removeprefix("--engine=") for word in typed) if word in load.engines()]
    if engine and other and engine not in other:
        return Given(note=f"{file}: is not used, as it is for {engine}; this is about {other[0]}")
    return Given(settings, {takes[key].field: words for key, words in settings.words.items() if key in takes})


def spelled(verb: Verb, words: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Values by field as words of a command line."""
    arguments: list[str] = []
    options: list[str] = []
    for declared in verb:
        values = words.get(declared.field, ())
        if isinstance(declared, Argument):
            arguments += values
        elif declared.reader is None:
            options += [declared.name] if values else []
        else:
            options += [f"{declared.name}={value}" for value in values]
    return (*arguments, *options)


def completed(words: Sequence[str], path: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """A call's words with those that a settings file gave, and without the file: they say the same without it."""
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--config":
            next(rest, None)
        elif not word.startswith("--config="):
            plain.append(word)
    place = 0
    for name in path:
        if name not in plain[place:]:
            return tuple(words)  # not the command line of this process: a call from within
        place = plain.index(name, place) + 1
    return (*plain[:place], *added, *plain[place:])


def announce(configured: Configured | None, note: str) -> None:
    """Says on stderr which file gave what, or why one was not used."""
    if configured is not None:
        sys.stderr.write(f"burnish: from {configured.file}: {shlex.join(configured.options)}\n")
    elif note:
        sys.stderr.write(f"burnish: {note}\n")


def path_of(context: Any) -> tuple[str, ...]:
    """The words that call the verb of a context."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return tuple(names)


def from_context(context: Any, verb: Verb, typed: Sequence[str]) -> Given:
    """What the settings file gives to the verb of a context of the command line."""
    root = context.find_root()
    if root is context:  # a verb by itself, not called from the command line
        return Given()
    name = root.params.get("config")
    if _none(named(typed) or name):
        return Given()
    return given(verbs_of(root.command), path_of(context), verb, typed, name)


def _none(name: str | None) -> bool:
    """Whether there is no file, wherever a verb may look: then nobody needs the keys, which are of all verbs."""
    said = name if name is not None else os.environ.get(VARIABLE) or None
    return said in (None, NONE) and find(name) == (None, "")
