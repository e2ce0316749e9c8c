"""The simple query of PostgreSQL's protocol (version 3): a server that speaks it is asked without a client library."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import BinaryIO

from burnish.base.errors import InfrastructureError

_VERSION = 3 << 16
_PATIENCE_S = 600.0


def ask(path: Path, statement: str, *, user: str, database: str) -> list[tuple[str | None, ...]]:
    """Rows of one statement as text, over a new connection to a Unix socket; the server must trust the user.

    Raises:
        InfrastructureError: the server can't be reached, or says that the statement is wrong.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE_S)
            connection.connect(str(path))
            names = "\0".join(("user", user, "database", database, "", ""))
            start = struct.pack("!I", _VERSION) + names.encode()
            connection.sendall(struct.pack("!I", len(start) + 4) + start)
            answer = connection.makefile("rb")
            _rows(answer)
            text = statement.encode() + b"\0"
            connection.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
            rows = _rows(answer)
            # Counters are complete only when the process that answered has ended, which closes the connection.
            connection.sendall(b"X" + struct.pack("!I", 4))
            answer.read()
            return rows
    except OSError as error:
        raise InfrastructureError(f"asking the server: {error}") from error


def _rows(answer: BinaryIO) -> list[tuple[str | None, ...]]:
    """Rows of all messages until the server is ready for the next statement."""
    rows: list[tuple[str | None, ...]] = []
    while True:
        head = answer.read(5)
        kind, length = struct.unpack("!cI", head) if len(head) == 5 else (b"", 4)
        body = answer.read(length - 4)
        if len(body) < length - 4 or not kind:
            raise ConnectionError("it closed the connection")
        if kind == b"Z":
            return rows
        if kind == b"D":
            rows.append(_row(body))
        elif kind == b"E":
            fields = {field[:1]: field[1:].decode(errors="replace") for field in body.split(b"\0")}
            raise InfrastructureError(f"the server says: {fields.get(b'M', 'an error')}")
        elif kind == b"R" and body != b"\0\0\0\0":
            raise InfrastructureError("the server asks for a password")


def _row(body: bytes) -> tuple[str | None, ...]:
    at, values = 2, list[str | None]()
    for _ in range(struct.unpack_from("!H", body)[0]):
        (length,) = struct.unpack_from("!i", body, at)
        at += 4
        values.append(None if length < 0 else body[at : at + length].decode(errors="replace"))
        at += max(0, length)
    return tuple(values)
