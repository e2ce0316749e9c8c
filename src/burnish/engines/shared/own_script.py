"""A user's own load as files: the one that is named, and the Lua that it requires beside itself."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.model.workload import Workload

_REQUIRES = re.compile(rb"""\b(?:require|dofile|loadfile)\s*\(?\s*["']([\w./-]+)["']""")


def files(path: Path) -> list[Path]:
    """A user's file and the Lua files beside it that it requires, directly or not; each once, in order.

    What is required from elsewhere (sysbench's own scripts, an absolute path) is the system's, and a name that a script
    puts together itself is not seen.

    Raises:
        OSError: the file can't be read.
    """
    scripts, left = [path], [path]
    while left:
        text = left.pop().read_bytes()
        for name in (match.decode() for match in _REQUIRES.findall(text)):
            if name.startswith("/"):
                continue
            beside = path.parent / (name if name.endswith(".lua") else f"{name.replace('.', '/')}.lua")
            if beside.is_file() and beside not in scripts:
                scripts.append(beside)
                left.append(beside)
    return scripts


def digest(path: Path) -> str:
    """What a user's file holds, with what it requires; an `OSError` when it can't be read."""
    scripts = files(path) if path.suffix == ".lua" else [path]
    if len(scripts) == 1:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    digest_so_far = hashlib.sha256()
    for script in scripts:
        content = script.read_bytes()
        digest_so_far.update(f"{script.relative_to(path.parent)} {len(content)}\n".encode() + content)
    return digest_so_far.hexdigest()[:16]


def read(path: Path) -> tuple[bytes, str]:
    """Content and `digest` of a user's file; a `UserError` when it can't be read."""
    try:
        return path.read_bytes(), digest(path)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def load_of(path: Path, *, like: Workload) -> Workload:
    """A user's file as a load over the tables of another one; a `UserError` when it can't be read."""
    _, content = read(path)
    reason, file = f"A load of the user's own: {path.name}.", str(path.resolve())
    return replace(like, name=path.name, reason=reason, program=path.name, file=file, content=content)


def unchanged(workload: Workload) -> bytes:
    """What the user's file of a workload holds; a `UserError` when it is no longer what the study began with."""
    if digest(Path(workload.file)) != workload.content:
        raise UserError(
            f"{workload.file}: it, or what it requires, was changed while the study ran; run it again with --fresh"
        )
    return Path(workload.file).read_bytes()
