"""A user's own load as files: the one that is named, and the Lua that it requires beside itself."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_REQUIRES = re.compile(rb"""\b(?:require|dofile|loadfile)\s*\(?\s*["']([\w./-]+)["']""")


def files(path: Path) -> list[Path]:
    """A user's file, and whatever Lua beside it that it or these require; each once, in the order of being named.

    What is required from elsewhere (sysbench's own scripts) is the system's, and a name that a script puts together
    itself is not seen.

    Raises:
        OSError: the file can't be read.
    """
    found, left = [path], [path]
    while left:
        text = left.pop().read_bytes()
        for name in (match.decode() for match in _REQUIRES.findall(text)):
            beside = path.parent / (name if name.endswith(".lua") else f"{name.replace('.', '/')}.lua")
            if beside.is_file() and beside not in found:
                found.append(beside)
                left.append(beside)
    return found


def digest(path: Path) -> str:
    """What a user's file holds, with what it requires; an `OSError` when it can't be read."""
    every = files(path) if path.suffix == ".lua" else [path]
    if len(every) == 1:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    whole = hashlib.sha256()
    for each in every:
        content = each.read_bytes()
        whole.update(f"{each.relative_to(path.parent)} {len(content)}\n".encode() + content)
    return whole.hexdigest()[:16]
