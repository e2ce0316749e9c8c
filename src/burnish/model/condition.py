"""Conditions: how a server is deployed for a trial."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

DISK, MEMORY = "disk", "memory"
"""Places of a server's data besides a folder that the user names."""

HUGE = "huge"
"""Value of `Condition.heap_pages`."""

Transport = Literal["unix", "tcp", "tls", "remote"]


@dataclass(frozen=True)
class Condition:
    """How a server is deployed for a trial.

    Attributes:
        settings: server settings beyond the engine's own, as (name, value).
        transport: how clients reach the server: its Unix socket, TCP on the loopback device, TLS over that, or TCP
            from another host (a network namespace).
        certificates: folder of the study's certificates; '' without TLS.
        rate: limit on the network's rate in each direction (``100mbit``); '' for no limit. For ``remote`` only.
        delay: delay of the network in each direction (``1ms``); '' for none. For ``remote`` only.
        storage: where the server's data are: ``disk`` (Burnish's home), ``memory``, or a folder on another device; ''
            if nothing was asked: ``disk``.
        allocator: the malloc that the server is launched with, as in a recipe; '' for the build's own.
        heap_pages: ``huge`` if glibc's malloc asks for transparent huge pages; '' if it does not.
    """

    settings: tuple[tuple[str, str], ...] = ()
    transport: Transport = "unix"
    certificates: str = ""
    rate: str = ""
    delay: str = ""
    storage: str = ""
    allocator: str = ""
    heap_pages: str = ""

    @property
    def place(self) -> str:
        """Where the server's data are, asked for or not."""
        return self.storage or DISK

    @property
    def limited(self) -> bool:
        """Whether the network is slowed down, so that a server may have to wait for it."""
        return bool(self.rate or self.delay)

    def as_dict(self) -> dict[str, object]:
        """Plain values, for the record."""
        return asdict(self)
