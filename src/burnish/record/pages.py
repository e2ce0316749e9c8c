"""Records within pages: a report that is sent as one file of HTML holds the record it was made from.

A record is in an element of its own, as the bytes of a ``.jsonl.xz`` file in base64, with their digest. Browsers do not
run or show an element of this type, and base64 has no character that could end it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import re
from pathlib import Path

from burnish.base.errors import UserError

VERSION = 1
"""Version of the page's form, raised when an older Burnish could not find or read the records in it."""

META = "burnish-page"
"""Name of the element that states the version."""

TYPE = "application/x-burnish-record"

_PAGE = re.compile(r"(?P<file>.*\.html?)(?:#(?P<run>[^#]*))?", re.IGNORECASE | re.DOTALL)
_VERSION = re.compile(rf'<meta name="{META}" content="(\d+)">')
_RECORD = re.compile(
    rf'<script type="{TYPE}" data-run="(?P<run>[^"]*)" data-sha256="(?P<digest>[0-9a-f]*)">'
    r"(?P<data>[^<]*)(?P<end></script>)?"
)
_LINE = 120
_HOW = "`burnish report RUN -o FILE.html` makes one"


def is_page(name: str) -> bool:
    """Whether a name is that of a page, or of one of several runs in a page: ``FILE.html``, ``FILE.html#RUN``."""
    return _PAGE.fullmatch(name) is not None


def stem(name: str) -> str:
    """The name of the run, or else of the file without its suffix."""
    match = _PAGE.fullmatch(name)
    return name if match is None else match["run"] or match["file"].rpartition(".")[0]


def element(run: str, packed: bytes) -> str:
    """The element that holds a record.

    Args:
        run: name of the run.
        packed: content of its ``.jsonl.xz`` file.
    """
    text = base64.b64encode(packed).decode()
    lines = "\n".join(text[begin : begin + _LINE] for begin in range(0, len(text), _LINE))
    digest = hashlib.sha256(packed).hexdigest()
    return f'<script type="{TYPE}" data-run="{html.escape(run)}" data-sha256="{digest}">\n{lines}\n</script>'


def packed(path: Path) -> bytes:
    """The packed record in a page.

    Args:
        path: the page, and after a # the run if it holds several.

    Raises:
        UserError: the file does not exist, is no page, was made by a newer Burnish, is cut off or damaged, or holds
            several runs of which none is named.
    """
    match = _PAGE.fullmatch(str(path))
    assert match is not None  # noqa: S101 - `is_page` was asked
    file, wanted = Path(match["file"]), match["run"]
    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; {_HOW}") from None
    version = _VERSION.search(text)
    if version is None:
        raise UserError(f"{file}: not a page made by burnish; {_HOW}")
    if int(version[1]) > VERSION:
        raise UserError(
            f"{file}: a page of version {version[1]}; this Burnish reads version {VERSION}: read it with the Burnish "
            "that wrote it, or a newer one"
        )
    found = {html.unescape(record["run"]): record for record in _RECORD.finditer(text)}
    if not found or any(record["end"] is None for record in found.values()) or "</html>" not in text:
        raise UserError(f"{file}: cut off, so that its record is not whole; copy or make the page again")
    if wanted is None and len(found) > 1:
        names = ", ".join(found)
        raise UserError(f"{file}: holds {len(found)} runs ({names}); name one: {file}#{next(iter(found))}")
    chosen = next(iter(found.values())) if wanted is None else found.get(wanted)
    if chosen is None:
        raise UserError(f"{file}: holds no run {wanted!r}; it holds {', '.join(found)}")
    try:
        data = base64.b64decode("".join(chosen["data"].split()), validate=True)
    except binascii.Error:
        data = b""
    if hashlib.sha256(data).hexdigest() != chosen["digest"]:
        raise UserError(f"{file}: its record is damaged (its digest is not the one stated); make the page again")
    return data
