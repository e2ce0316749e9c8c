"""Parses a user's option file into settings: its server groups, in order; settings with paths are errors; pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

from burnish.base.errors import UserError
from burnish.model.engine import ServerSettings
from burnish.workload.conditions import plain, setting_name

_GROUP = re.compile(r"^\[([^\]]+)\]")


def parse(
    text: str, where: str, server: ServerSettings, series: str = ""
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Settings in order, and notes about ignored settings and about groups for one release.

    A name is there several times where each of its lines counts; otherwise its last line counts.

    Args:
        text: the file's content.
        where: its name, for errors.
        server: facts about the engine's settings: the groups that it reads, the settings that Burnish controls.
        series: the server's release series, whose groups are read too; '' for none.

    Raises:
        UserError: lines name other folders (the message lists them all), or include other files.
    """
    settings: dict[str, list[str]] = {}
    ignored, foreign, notes = [], [], []
    in_group = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if words.startswith("!"):
            raise UserError(f"{where}:{number}: {words.split()[0]} brings in other files; give one file with all of it")
        group = _GROUP.match(words)
        if group:
            name = group[1].strip()
            versioned = _of_release(name, server)
            in_group = versioned == series if versioned else name in server.option_groups
            if versioned and in_group:
                notes.append(f"{words} (line {number}) is read, as a server of {series} does")
            elif versioned:
                notes.append(f"{words} (line {number}) left out: not for {series or 'a release that is known yet'}")
            continue
        if not in_group:
            continue
        name, equals, value = words.partition("=")
        name, value = setting_name(name), re.sub(r"\s+#.*$", "", value).strip().strip("'\"")
        if name in server.harmless:
            ignored.append(name)
        elif plain(name) in server.reserved or ("/" in value and not _is_repeated(name, server)):
            foreign.append(f"{name} (line {number})")
        elif name in server.joined and name in settings:
            settings[name] = [server.joined[name].join([*settings[name], value])]
        else:
            before = settings.get(name, []) if _is_repeated(name, server) else []
            settings[name] = [*before, value if equals else "ON"]
    if foreign:
        raise UserError(
            f"{where}: it names places outside of Burnish's folders: {', '.join(foreign)}; servers on trial keep all "
            "of their files in folders of their own, so give a copy of the file without these lines"
        )
    if ignored:
        notes.append(f"{', '.join(ignored)} left out: Burnish decides these")
    return tuple((name, value) for name, values in settings.items() for value in values), tuple(notes)


def _is_repeated(name: str, server: ServerSettings) -> bool:
    """Whether each line with a setting counts: a pattern of instruments, a database; none names a place."""
    return any(fnmatchcase(plain(name), pattern) for pattern in server.repeated)


def _of_release(group: str, server: ServerSettings) -> str:
    """The release series at the end of a group's name (``mysqld-8.0``); '' if the group is for every release."""
    name, _, series = group.rpartition("-")
    return series if name in server.release_groups and re.fullmatch(r"\d[\d.]*", series) else ""


def content(path: Path) -> str:
    """A file's text; a `UserError` if it can't be read."""
    try:
        return path.read_text()
    except FileNotFoundError:
        raise UserError(f"--defaults-file {path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--defaults-file {path}: cannot be read ({error})") from None
