"""Records as files: one event a line, in JSON; packed, with a head that says how many events there are.

Whether a file is packed, and how, is read off its name: ``.jsonl`` as it is, ``.jsonl.gz``, ``.jsonl.xz``. The same
events always give the same bytes: no times or names of files go in.
"""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from burnish.base.errors import UserError
from burnish.record.codec import FORMAT

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
USUAL = ".jsonl.xz"
"""How a record is packed when nothing else is said: the smallest of the three."""

_HEAD = "burnish-record"
_MAGIC = {".xz": b"\xfd7zXZ\0", ".gz": b"\x1f\x8b"}
_BLOCK = 1 << 14
_HOW = "`burnish record export RUN` makes one"
_NO_EVENT = (ValueError, TypeError, KeyError)


class Line(NamedTuple):
    """One event as it is kept.

    Attributes:
        number: its place in the order of events, from 1.
        at: when it was written, ISO 8601 in UTC.
        kind: what it is.
        body: its values.
        form: format in which kind and values are.
    """

    number: int
    at: str
    kind: str
    body: Mapping[str, Any]
    form: int = 1


def is_file_name(name: str) -> bool:
    """Whether a name is that of an exported record rather than a study's."""
    return name.endswith(SUFFIXES)


def stem(name: str) -> str:
    """A file's name without what says how it is packed."""
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)


def check_name(path: Path) -> None:
    """Refuses a file name that does not say how the record is packed."""
    if not is_file_name(path.name):
        raise UserError(f"{path}: an exported record's name ends in {', '.join(SUFFIXES)}; give it one of these")


def as_json(lines: Iterable[Line]) -> str:
    """One event a line, values in the order in which they were recorded: reports follow it."""
    return "".join(_json(_values(line)) for line in lines)


def pack(lines: Iterable[Line], name: str) -> bytes:
    """A whole file with its head, packed as its name says."""
    every = list(lines)
    form = max((line.form for line in every), default=FORMAT)
    data = (_json({_HEAD: form, "events": len(every)}) + as_json(every)).encode()
    if name.endswith(".xz"):
        return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    return gzip.compress(data, 9, mtime=0) if name.endswith(".gz") else data


def read(path: Path) -> tuple[Line, ...]:
    """The events of an exported record.

    Raises:
        UserError: there is no such file; it is no record, one of another format, or cut off.
    """
    check_name(path)
    try:
        data, damage = _unpack(path, path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; {_HOW}") from None
    *texts, rest = data.split(b"\n")
    expected = _promised(path, texts[0]) if texts else None
    found: list[Line] = []
    for text in texts if expected is None else texts[1:]:
        try:
            found.append(_event(text, found))
        except _NO_EVENT:
            if damage is not None:
                break
            line = len(found) + (1 if expected is None else 2)
            raise UserError(f"{path}: line {line} is no event of an exported record; {_HOW}") from None
        if found[-1].form > FORMAT:
            raise _newer(path, found[-1].form)
    if damage is None and rest:
        damage = "cut off"
    if damage is None and expected is not None and len(found) != expected:
        damage = "cut off" if len(found) < expected else "longer than it says"
    if damage is not None:
        of = "" if expected is None else f" of {expected}"
        raise UserError(f"{path}: {damage}: {len(found)}{of} events could be read, so none is used; export it again")
    return tuple(found)


def _event(text: bytes, before: list[Line]) -> Line:
    """One line's event; one of `_NO_EVENT` where it is none."""
    value = json.loads(text, parse_constant=_refuse)
    number, at, kind, body = (value[name] for name in ("n", "at", "kind", "body"))
    if type(number) is not int or not (isinstance(at, str) and isinstance(kind, str) and isinstance(body, dict)):
        raise TypeError
    if not (before[-1].number if before else 0) < number < 1 << 63:
        raise ValueError
    form = value.get("f", 1)
    if type(form) is not int or form < 1:
        raise ValueError
    return Line(number, at, kind, body, form)


def _refuse(word: str) -> None:
    """JSON has no word for a figure that is not finite."""
    raise ValueError(word)


def _promised(path: Path, text: bytes) -> int | None:
    """How many events the head says there are; None where the file begins with an event: it has no head."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    form = value.get(_HEAD) if isinstance(value, dict) else None
    if form is None:
        return None
    if not isinstance(form, int) or not isinstance(value.get("events"), int) or not 1 <= form <= FORMAT:
        raise _newer(path, form)
    return int(value["events"])


def _newer(path: Path, form: object) -> UserError:
    return UserError(
        f"{path}: a record in format {form}; this Burnish reads formats 1 to {FORMAT}: read it with the Burnish that "
        "wrote it, or a newer one"
    )


def _unpack(path: Path, data: bytes) -> tuple[bytes, str | None]:
    """The file's text as far as it can be read, and what is wrong with the rest."""
    if path.name.endswith(".jsonl"):
        return data, None
    magic = _MAGIC[path.suffix]
    if data[: len(magic)] != magic[: len(data)]:
        raise UserError(f"{path}: is not packed as its name says; {_HOW}")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ) if path.name.endswith(".xz") else zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    for begin in range(0, len(data), _BLOCK):
        if unpacker.eof:
            return b"".join(parts), "followed by something else"
        try:
            parts.append(unpacker.decompress(data[begin : begin + _BLOCK]))
        except (lzma.LZMAError, zlib.error):
            return b"".join(parts), "damaged"
    if unpacker.unused_data:
        return b"".join(parts), "followed by something else"
    return b"".join(parts), None if unpacker.eof else "cut off"


def _values(line: Line) -> dict[str, Any]:
    """An event as one JSON value; those of format 1 do not say their format."""
    form = {"f": line.form} if line.form > 1 else {}
    return {"n": line.number, "at": line.at, **form, "kind": line.kind, "body": line.body}


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n"
