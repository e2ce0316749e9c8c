"""Records as files: one event per line in JSON, compressed, with a header that states the number of events.

The file's suffix selects the compression: ``.jsonl`` (none), ``.jsonl.gz``, ``.jsonl.xz``. The same events always give
the same bytes: the files contain no timestamps or file names of their own. A page is read as the record that it holds
(`burnish.record.pages`).
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
from burnish.record import pages
from burnish.record.codec import FORMAT

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.xz")
USUAL = ".jsonl.xz"
"""Default suffix of an exported record: the smallest of the three."""

_HEAD = "burnish-record"
_MAGIC = {".xz": b"\xfd7zXZ\0", ".gz": b"\x1f\x8b"}
_BLOCK = 1 << 14
_HOW = "`burnish record export RUN` makes one"
_NO_EVENT = (ValueError, TypeError, KeyError)


class Line(NamedTuple):
    """One event as stored.

    Attributes:
        number: its position in the record, from 1.
        at: when it was written, ISO 8601 in UTC.
        kind: its kind.
        body: its values.
        form: format of kind and values.
    """

    number: int
    at: str
    kind: str
    body: Mapping[str, Any]
    form: int = 1


def is_file_name(name: str) -> bool:
    """Whether a name is that of an exported record, or of a page that holds one, rather than of a study."""
    return name.endswith(SUFFIXES) or pages.is_page(name)


def stem(name: str) -> str:
    """A file's name without its suffix."""
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), pages.stem(name))


def check_name(path: Path) -> None:
    """Raises a `UserError` for a file name without one of the suffixes."""
    if not path.name.endswith(SUFFIXES):
        raise UserError(f"{path}: an exported record's name ends in {', '.join(SUFFIXES)}; give it one of these")


def as_json(lines: Iterable[Line]) -> str:
    """One event per line, values in recorded order, on which reports depend."""
    return "".join(_json(_values(line)) for line in lines)


QUICK = 1
"""Preset of a page's compression: a second and 9 MB of memory for 8 MB of events, where an exported file's takes many
times both; a quarter larger."""


def pack(lines: Iterable[Line], name: str, preset: int = 9 | lzma.PRESET_EXTREME) -> bytes:
    """The content of a file with its header, compressed according to its name, for ``.xz`` with this preset."""
    events = list(lines)
    form = max((line.form for line in events), default=FORMAT)
    data = (_json({_HEAD: form, "events": len(events)}) + as_json(events)).encode()
    if name.endswith(".xz"):
        return lzma.compress(data, preset=preset)
    return gzip.compress(data, 9, mtime=0) if name.endswith(".gz") else data


def read(path: Path) -> tuple[Line, ...]:
    """The events of an exported record, or of the one in a page.

    Raises:
        UserError: the file does not exist, is not a record, has another format, or is truncated.
    """
    if pages.is_page(path.name):
        data, damage = _unpack(path, pages.packed(path), USUAL)
    else:
        check_name(path)
        try:
            data, damage = _unpack(path, path.read_bytes(), path.name)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}; {_HOW}") from None
    *texts, rest = data.split(b"\n")
    expected = _stated_number(path, texts[0]) if texts else None
    events: list[Line] = []
    for text in texts if expected is None else texts[1:]:
        try:
            events.append(_event(text, events))
        except _NO_EVENT:
            if damage is not None:
                break
            line = len(events) + (1 if expected is None else 2)
            raise UserError(f"{path}: line {line} is not an event of an exported record; {_HOW}") from None
        if events[-1].form > FORMAT:
            raise _newer(path, events[-1].form)
    if damage is None and rest:
        damage = "cut off"
    if damage is None and expected is not None and len(events) != expected:
        damage = "cut off" if len(events) < expected else "longer than it says"
    if damage is not None:
        of = "" if expected is None else f" of {expected}"
        raise UserError(f"{path}: {damage}: {len(events)}{of} events could be read, so none is used; export it again")
    return tuple(events)


def _event(text: bytes, before: list[Line]) -> Line:
    """The event on one line; raises one of `_NO_EVENT` if it is not one."""
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
    """Rejects NaN and infinities, which JSON does not have."""
    raise ValueError(word)


def _stated_number(path: Path, text: bytes) -> int | None:
    """The number of events stated in the header; None if the file has no header and begins with an event."""
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


def _unpack(path: Path, data: bytes, name: str) -> tuple[bytes, str | None]:
    """The part of the file's text that can be read, and what is wrong with the rest; packed as `name` says."""
    if name.endswith(".jsonl"):
        return data, None
    magic = _MAGIC[Path(name).suffix]
    if data[: len(magic)] != magic[: len(data)]:
        raise UserError(f"{path}: its content does not match its suffix; {_HOW}")
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ) if name.endswith(".xz") else zlib.decompressobj(wbits=31)
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
    """An event as one JSON value; events of format 1 have no format field."""
    form = {"f": line.form} if line.form > 1 else {}
    return {"n": line.number, "at": line.at, **form, "kind": line.kind, "body": line.body}


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n"
