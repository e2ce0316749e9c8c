"""The simple query of PostgreSQL's protocol (version 3), so that a server can be asked without its client library."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

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
            _answer(connection)
            text = statement.encode() + b"\0"
            connection.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
            return _answer(connection)
    except OSError as error:
        raise InfrastructureError(f"asking the server: {error}") from error


def _answer(connection: socket.socket) -> list[tuple[str | None, ...]]:
    """Rows of all messages until the server is ready for the next statement."""
    rows: list[tuple[str | None, ...]] = []
    while True:
        kind, length = struct.unpack("!cI", _read(connection, 5))
        body = _read(connection, length - 4)
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


def _read(connection: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        part = connection.recv(count - len(content))
        if not part:
            raise ConnectionError("it closed the connection")
        content += part
    return content
