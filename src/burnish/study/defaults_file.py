"""A user's my.cnf as settings: its server groups, in order; what points at files is refused by name; pure."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.errors import UserError
from burnish.study.conditions import OURS, plain

GROUPS = ("mysqld", "server", "mariadb", "mariadbd")
_GROUP = re.compile(r"^\[([^\]]+)\]")
_HARMLESS = ("user", "port", "bind_address", "skip_networking", "socket", "pid_file", "basedir")
"""Settings of `OURS` that say nothing of speed or data: left out, and told."""


def parse(text: str, where: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Settings in order, and the names of those that Burnish decides instead.

    Args:
        text: the file's content.
        where: its name, for errors.

    Raises:
        UserError: lines that name other folders (all of them by name), or include other files.
    """
    settings: dict[str, str] = {}
    left, foreign = [], []
    mine = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words or words[0] in "#;":
            continue
        if words.startswith("!"):
            raise UserError(f"{where}:{number}: {words.split()[0]} brings in other files; give one file with all of it")
        group = _GROUP.match(words)
        if group:
            mine = re.sub(r"-\d[\d.]*$", "", group[1].strip()) in GROUPS
            continue
        if not mine:
            continue
        name, equals, value = words.partition("=")
        name, value = plain(name), re.sub(r"\s+#.*$", "", value).strip().strip("'\"")
        if name in _HARMLESS:
            left.append(name)
        elif name in OURS or "/" in value:
            foreign.append(f"{name} (line {number})")
        else:
            settings[name] = value if equals else "ON"
    if foreign:
        raise UserError(
            f"{where}: it names places outside of Burnish's folders: {', '.join(foreign)}; servers on trial keep all "
            "of their files in folders of their own, so give a copy of the file without these lines"
        )
    return tuple(settings.items()), tuple(left)


def read(path: Path) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """`parse` of a file; a `UserError` when it can't be read."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise UserError(f"--defaults-file {path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--defaults-file {path}: cannot be read ({error})") from None
    return parse(text, str(path))
