"""Which hosts are there, as seen by whoever asks them; keeps the connection to the scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from burnish import __version__
from burnish.base.errors import InfrastructureError
from burnish.hosts.host import Host, accepted, host_of

LOOK_S = 5.0
"""How often it is looked which hosts are there."""

_TURN_S = 0.25


class Link(Protocol):
    """A connection to the scheduler (`burnish.hosts.plumbing.Link`)."""

    @property
    def broken(self) -> bool:
        """Whether the connection is lost."""

    def hosts(self) -> list[dict[str, Any]]:
        """What every worker reported about its host."""

    def send(self, function: Callable[..., Any], argument: Any, *, key: str, worker: str, alone: bool) -> Any:
        """Has a worker call a function, one `alone` at a time; returns a future."""

    def close(self) -> None:
        """Ends the connection."""


@dataclass(frozen=True)
class Change:
    """What is another way than before.

    Attributes:
        came: hosts that are there now; a worker that was started anew has come again.
        went: names of hosts that are gone.
        relinked: whether it was the connection to the scheduler that was lost: hosts go on with what they do.
    """

    came: tuple[Host, ...] = ()
    went: tuple[str, ...] = ()
    relinked: bool = False


@dataclass
class Fleet:
    """The hosts that can take part.

    Attributes:
        connect: connects to the scheduler; raises OSError if nobody answers.
        address: the scheduler's, for messages.
        say: prints a line.
        patience: seconds to wait for a scheduler that is gone.
        hosts: those that are there, by name.
    """

    connect: Callable[[], Link]
    address: str
    say: Callable[[str], None]
    patience: float
    hosts: dict[str, Host] = field(default_factory=dict)
    _link: Link | None = None
    _looked: float = float("-inf")
    _known: set[str] = field(default_factory=set)
    _said: set[str] = field(default_factory=set)

    @property
    def due(self) -> bool:
        """Whether it is time to look again."""
        return self._link is None or self._link.broken or time.monotonic() - self._looked >= LOOK_S

    def look(self) -> Change:
        """Looks which hosts are there; connects again if the connection is lost.

        Raises:
            InfrastructureError: the scheduler does not answer.
        """
        lost: Mapping[str, Host] = {}
        if self._link is None or self._link.broken:
            lost = self.hosts
            self._reconnect()
        assert self._link is not None  # noqa: S101 - connected just now
        try:
            reported = [host_of(about) for about in self._link.hosts()]
        except (OSError, RuntimeError):  # gone in this moment: the next look connects again
            return Change()
        self._looked = time.monotonic()
        good, refused = accepted(reported, __version__)
        for line in refused:
            self.say_once(line)
        there = {host.name: host for host in good}
        went = tuple(
            name
            for name, host in self.hosts.items()
            if name in lost or name not in there or there[name].address != host.address
        )
        came = tuple(host for name, host in there.items() if name not in self.hosts or name in went)
        for name in went:
            if name not in there:
                self.say(f"{name}: is gone; what it was doing waits for it, or goes to another host")
        for host in came:
            if host.name in self._known and host.name not in lost:
                self.say(f"{host.name}: is back")
        self.hosts = there
        self._known |= there.keys()
        return Change(came, went, relinked=bool(lost))

    def send(self, function: Callable[..., Any], argument: Any, *, key: str, host: str, alone: bool = True) -> Any:
        """Has a host call a function, one `alone` at a time; returns a future."""
        assert self._link is not None  # noqa: S101 - it reported the host
        return self._link.send(function, argument, key=key, worker=self.hosts[host].address, alone=alone)

    def look_soon(self) -> None:
        """Has the next turn look: something has just been lost."""
        self._looked = float("-inf")

    def say_once(self, line: str) -> None:
        """Prints a line that has not been printed before."""
        if line not in self._said:
            self._said.add(line)
            self.say(line)

    def close(self) -> None:
        """Ends the connection."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _reconnect(self) -> None:
        since, first = time.monotonic(), self._link is None
        self.close()
        if not first:
            self.say("the scheduler is gone; waiting for it (what hosts are doing goes on)")
        while True:
            try:
                self._link = self.connect()
            except OSError:
                if first or time.monotonic() - since >= self.patience:
                    raise InfrastructureError(
                        f"{self.address}: no scheduler answers; `burnish hosts up` starts it",
                        kept="everything that hosts have done; the same command goes on",
                    ) from None
                time.sleep(_TURN_S)
            else:
                return
