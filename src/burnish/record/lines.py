"""Records as files: one event per line in JSON, compressed, with a header that states the number of events.

The file's suffix selects the compression: ``.jsonl`` (none), ``.jsonl.gz``, ``.jsonl.xz``. The same events always give
the same bytes: the files contain no timestamps or file names of their own. A page is read as the record that it holds
(`burnish.record.pages`).
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_PART = 1 << 10
_HOW = "`burnish record export RUN` makes one"
_TURNS = re.compile(r'"turns": ?\{(?:"(?:[^"\\]|\\.)*": ?\[(?:\[[-+.\deEnul, ]*\](?:, ?)?)*\](?:, ?)?)*\}')
"""The turns of a pair as text: by side, rows of numbers."""

_NO_EVENT = (ValueError, TypeError, KeyError, RecursionError)


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
    return pack_texts([text_of(line) for line in events], form, name, preset)


def pack_texts(texts: Sequence[bytes], form: int, name: str, preset: int = 9 | lzma.PRESET_EXTREME) -> bytes:
    """The same from the events' lines, of which the newest format is `form`."""
    head = _json({_HEAD: form, "events": len(texts)}).encode()
    if name.endswith(".xz"):
        packer = lzma.LZMACompressor(preset=preset)  # in parts: the whole text would need its size once more
        parts = (b"".join(texts[begin : begin + _PART]) for begin in range(0, len(texts), _PART))
        return b"".join([packer.compress(head), *map(packer.compress, parts), packer.flush()])
    data = head + b"".join(texts)
    return gzip.compress(data, 9, mtime=0) if name.endswith(".gz") else data


def text_of(line: Line) -> bytes:
    """An event as its line of a file."""
    return _json(_values(line)).encode()


def spliced(number: int, at: str, kind: str, body: str, form: int) -> bytes:
    """The same from an event's values as JSON, which stay as they are written."""
    head = _json(_values(Line(number, at, kind, {}, form))).removesuffix("{}}\n")
    return f"{head}{body}}}\n".encode()


def read(path: Path) -> tuple[Line, ...]:
    """The events of an exported record, or of the one in a page.

    Raises:
        UserError: the file does not exist, is not a record, has another format, or is truncated.
    """
    return tuple(line for line, _ in each(path))


def without_turns(text: str) -> str:
    """An event's text without the turns of a pair, which no report shows and which are nine tenths of a record."""
    return _TURNS.sub('"turns":{}', text, count=1)


def each(path: Path, *, turns: bool = True) -> Iterator[tuple[Line, bytes]]:
    """The events of an exported record one after the other, each with its line.

    Args:
        path: the file.
        turns: whether with the turns of pairs; the line has them always.

    Raises:
        UserError: as `read` does; what is wrong at the end of a file is seen only there.
    """
    if pages.is_page(path.name):
        texts = _Texts(path, pages.packed(path), USUAL)
    else:
        check_name(path)
        try:
            texts = _Texts(path, path.read_bytes(), path.name)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}; {_HOW}") from None
    expected: int | None = None
    count = number = 0
    for at, text in enumerate(texts, 1):
        if at == 1 and (expected := _stated_number(path, text)) is not None:
            continue
        try:
            line = _event(text, number, turns=turns)
        except _NO_EVENT:
            if texts.damaged():
                break
            raise UserError(f"{path}: line {at} is not an event of an exported record; {_HOW}") from None
        if line.form > FORMAT:
            raise _newer(path, line.form)
        count, number = count + 1, line.number
        yield line, text + b"\n"
    damage = texts.damage
    if damage is None and expected is not None and count != expected:
        damage = "cut off" if count < expected else "longer than it says"
    if damage is not None:
        of = "" if expected is None else f" of {expected}"
        raise UserError(f"{path}: {damage}: {count}{of} events could be read, so none is used; export it again")


def _event(text: bytes, before: int, *, turns: bool) -> Line:
    """The event on one line, after the one of number `before`; raises one of `_NO_EVENT` if it is not one."""
    read = text.decode("utf-8", "surrogatepass")
    value = _DECODER.decode(read if turns else without_turns(read))
    number, at, kind, body = (value[name] for name in ("n", "at", "kind", "body"))
    if type(number) is not int or not (isinstance(at, str) and isinstance(kind, str) and isinstance(body, dict)):
        raise TypeError
    if not before < number < 1 << 63:
        raise ValueError
    form = value.get("f", 1)
    if type(form) is not int or form < 1:
        raise ValueError
    return Line(number, at, kind, body, form)


def _refuse(word: str) -> None:
    """Rejects NaN and infinities, which JSON does not have."""
    raise ValueError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _stated_number(path: Path, text: bytes) -> int | None:
    """The number of events stated in the header; None if the file has no header and begins with an event."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
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


class _Texts:
    """The lines of a file, unpacked while they are read; what is cut off after the last line end is left out.

    Attributes:
        damage: once all are read, what is wrong with the file; None if nothing is.

    Args:
        path: the file.
        data: its content, or that of the record in it.
        name: its suffix says how it is packed.
    """

    def __init__(self, path: Path, data: bytes, name: str) -> None:
        self.damage: str | None = None
        self._data = data
        self._unpacker: lzma.LZMADecompressor | zlib._Decompress | None = None
        if not name.endswith(".jsonl"):
            magic = _MAGIC[Path(name).suffix]
            if data[: len(magic)] != magic[: len(data)]:
                raise UserError(f"{path}: its content does not match its suffix; {_HOW}")
            is_xz = name.endswith(".xz")
            self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ) if is_xz else zlib.decompressobj(wbits=31)
        self._each = self._lines()

    def __iter__(self) -> Iterator[bytes]:
        return self._each

    def damaged(self) -> bool:
        """Whether something is wrong with the file, after reading its rest."""
        for _ in self._each:
            pass
        return self.damage is not None

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for block in self._blocks():
            *texts, rest = (rest + block).split(b"\n")
            yield from texts
        if rest and self.damage is None:
            self.damage = "cut off"

    def _blocks(self) -> Iterator[bytes]:
        unpacker = self._unpacker
        for begin in range(0, len(self._data), _BLOCK):
            packed = self._data[begin : begin + _BLOCK]
            if unpacker is None:
                yield packed
                continue
            if unpacker.eof:
                self.damage = "followed by something else"
                return
            try:
                block = unpacker.decompress(packed)
            except (lzma.LZMAError, zlib.error):
                self.damage = "damaged"
                return
            yield block
        if unpacker is not None and self.damage is None:
            self.damage = "followed by something else" if unpacker.unused_data else None if unpacker.eof else "cut off"


def _values(line: Line) -> dict[str, Any]:
    """An event as one JSON value; events of format 1 have no format field."""
    form = {"f": line.form} if line.form > 1 else {}
    return {"n": line.number, "at": line.at, **form, "kind": line.kind, "body": line.body}


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n"
