"""Ticks as load programs write them: a JSON line each, appended to a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.engines.side import Tick
from burnish.model.histogram import Histogram


class TickFile:
    """A file that a load program appends lines to, read while it grows.

    Attributes:
        path: the file; it may not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0

    def clear(self) -> None:
        """Removes the file, for another run of the program."""
        self.path.unlink(missing_ok=True)
        self._read = 0

    def lines(self) -> list[bytes]:
        """The whole lines that have come since the last call; an unfinished last line waits for the next one."""
        if not self.path.is_file():
            return []
        with self.path.open("rb") as file:
            file.seek(self._read)
            text = file.read()
        complete = text[: text.rfind(b"\n") + 1]
        self._read += len(complete)
        return complete.splitlines()

    def ticks(self) -> list[Tick]:
        """The ticks that have come since the last call (see `parse_tick`)."""
        return [tick for line in self.lines() if (tick := parse_tick(line)) is not None]


def parse_tick(line: bytes) -> Tick | None:
    """A tick from its JSON line; None when the server's clock could not be read (it was gone).

    ``at``, ``done`` and ``server_cpu`` must be there; ``errors``, ``reconnects`` (errors too), ``client_cpu``,
    ``latency``, ``steps`` and ``times`` may be. See `Tick` for what they are; ``times`` has ``width`` and ``counts``, a
    list of seconds and requests.

    Raises:
        InfrastructureError: the line is none of a load program's.
    """
    try:
        value = json.loads(line)
        if value["server_cpu"] is None:
            return None
        return Tick(
            at=float(value["at"]),
            done=float(value["done"]),
            errors=int(value.get("errors", 0)) + int(value.get("reconnects", 0)),
            server_cpu=float(value["server_cpu"]),
            client_cpu=float(value.get("client_cpu", 0.0)),
            latency={str(name): float(seconds) for name, seconds in value.get("latency", {}).items()},
            steps=float(value.get("steps", 0.0)),
            times=_times(**value.get("times", {})),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InfrastructureError(f"a tick that can't be read: {line[:200]!r} ({error})") from error


def _times(width: float = 0.0, counts: Sequence[tuple[float, int]] = ()) -> Histogram:
    return Histogram(float(width), {float(seconds): int(requests) for seconds, requests in counts})
