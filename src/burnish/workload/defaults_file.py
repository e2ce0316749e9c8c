"""A user's my.cnf as settings: its server groups, in order; what points at files is refused by name; pure."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.base.errors import UserError
from burnish.workload.conditions import OURS, plain, setting_name

GROUPS = ("mysqld", "server", "mariadb", "mariadbd", "client-server", "galera")
"""What a MariaDB server reads of a file, whatever its version."""

_VERSIONED = re.compile(r"^(?:mysqld|mariadb|mariadbd)-(\d[\d.]*)$")
_REPEATED = {"plugin_load_add": ";"}
"""Settings that add to themselves where they come again, with what stands between their values."""

_GROUP = re.compile(r"^\[([^\]]+)\]")
_HARMLESS = ("user", "port", "bind_address", "skip_networking", "socket", "pid_file", "basedir")
"""Settings of `OURS` that say nothing of speed or data: left out, and told."""


def parse(text: str, where: str, series: str = "") -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Settings in order, and a line for each kind of those that are left out, and for what one release alone reads.

    Args:
        text: the file's content.
        where: its name, for errors.
        series: the server's release series, whose own groups count (``10.11``: ``[mariadb-10.11]``); '' for none.

    Raises:
        UserError: lines that name other folders (all of them by name), or include other files.
    """
    settings: dict[str, str] = {}
    left, foreign, told = [], [], []
    mine = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if words.startswith("!"):
            raise UserError(f"{where}:{number}: {words.split()[0]} brings in other files; give one file with all of it")
        group = _GROUP.match(words)
        if group:
            versioned = _VERSIONED.match(group[1].strip())
            mine = versioned[1] == series if versioned else group[1].strip() in GROUPS
            if versioned and mine:
                told.append(f"{words} (line {number}) is read, as a server of {series} does")
            elif versioned:
                told.append(f"{words} (line {number}) left out: not for {series or 'a release that is known yet'}")
            continue
        if not mine:
            continue
        name, equals, value = words.partition("=")
        name, value = setting_name(name), re.sub(r"\s+#.*$", "", value).strip().strip("'\"")
        if name in _HARMLESS:
            left.append(name)
        elif plain(name) in OURS or "/" in value:
            foreign.append(f"{name} (line {number})")
        elif name in _REPEATED and name in settings:
            settings[name] += _REPEATED[name] + value
        else:
            settings[name] = value if equals else "ON"
    if foreign:
        raise UserError(
            f"{where}: it names places outside of Burnish's folders: {', '.join(foreign)}; servers on trial keep all "
            "of their files in folders of their own, so give a copy of the file without these lines"
        )
    if left:
        told.append(f"{', '.join(left)} left out: Burnish decides these")
    return tuple(settings.items()), tuple(told)


def content(path: Path) -> str:
    """A file's text; a `UserError` when it can't be read."""
    try:
        return path.read_text()
    except FileNotFoundError:
        raise UserError(f"--defaults-file {path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--defaults-file {path}: cannot be read ({error})") from None
