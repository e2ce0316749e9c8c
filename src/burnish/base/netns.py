"""Another host without another host: two network namespaces of our own with a cable (a veth pair) between them.

A server runs in one of them, its load in the other. Neither has any other device, so nothing can be reached from
there but the other end, and no end can be reached from anywhere else; the host's own network is not touched. Their
names bear the run's mark. Who made them removes them; the warden does when we are gone, and `sweep` when even that
one was ended.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process, system, warden
from burnish.base.errors import InfrastructureError

ADDRESS = "10.0.0.1"
"""Of the server's end; every pair of namespaces has a network of its own, so all may have the same addresses."""

PORT = 3306
"""Nothing else runs in the server's namespace, so its port is free."""

_OTHER, _PREFIX_BITS, _DEVICE = "10.0.0.2", 30, "veth0"
_QUEUE_MS = 400  # so long may a packet wait for its turn: longer than any window of TCP asks for, so that none is lost
_BURST_S = 0.001
_FRAMES = 2 * 1514
_SECONDS = 120.0  # the kernel lets one at a time change networks, and takes its time to remove one
_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_RATE = re.compile(r"^(\d+(?:\.\d+)?)(kbit|mbit|gbit)$")

_INSTEAD = "or take transport=tcp"
_ADVICE = {
    "namespaces": "run as root (it takes CAP_SYS_ADMIN and CAP_NET_ADMIN; a container must have been given them), "
    + _INSTEAD,
    "veth": f"the kernel needs CONFIG_VETH (modprobe veth), {_INSTEAD}",
    "tbf": "the kernel needs CONFIG_NET_SCH_TBF (modprobe sch_tbf), or leave rate= out",
    "netem": "the kernel needs CONFIG_NET_SCH_NETEM (modprobe sch_netem), or leave delay= out",
}

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Step:
    """One command of laying a cable.

    Attributes:
        part: what it needs of the kernel: ``namespaces``, ``veth``, ``tbf`` or ``netem``.
        argv: the command line.
    """

    part: str
    argv: tuple[str, ...]


def steps(server: str, client: str, rate: str = "", delay: str = "") -> list[Step]:
    """What makes two namespaces and the cable between them, in order; pure.

    Args:
        server: name of the server's namespace.
        client: name of the load's.
        rate: bound on each direction, as tc writes it (``100mbit``); '' without.
        delay: of each direction, likewise (``1ms``): a round trip takes twice as long; '' without.
    """
    found = [Step("namespaces", ("ip", "netns", "add", name)) for name in (server, client)]
    veth = ("type", "veth", "peer", "name", _DEVICE, "netns", client)
    found.append(Step("veth", ("ip", "link", "add", _DEVICE, "netns", server, *veth)))
    for name, address in ((server, ADDRESS), (client, _OTHER)):
        found += [
            Step("veth", ("ip", "-n", name, "address", "add", f"{address}/{_PREFIX_BITS}", "dev", _DEVICE)),
            Step("veth", ("ip", "-n", name, "link", "set", _DEVICE, "up")),
        ]
        queue = ("tc", "-n", name, "qdisc", "add", "dev", _DEVICE)
        if delay:
            found.append(Step("netem", (*queue, "root", "handle", "1:", "netem", "delay", delay)))
        if rate:
            place = ("parent", "1:1", "handle", "10:") if delay else ("root",)
            limits = ("rate", rate, "burst", str(burst(rate)), "latency", f"{_QUEUE_MS}ms")
            found.append(Step("tbf", (*queue, *place, "tbf", *limits)))
    return found


def burst(rate: str) -> int:
    """Bytes that may pass at once: what a millisecond lets through, two frames at least."""
    match = _RATE.match(rate)
    bits = float(match[1]) * _UNITS[match[2]] if match else 0.0
    return max(_FRAMES, round(bits / 8 * _BURST_S))


class Cable:
    """Two namespaces and the cable between them, from `up` until `down`.

    Args:
        rate: see `steps`.
        delay: likewise.
    """

    def __init__(self, rate: str = "", delay: str = "") -> None:
        name = f"{warden.NAMESPACE}{process.run_id()}-{next(_numbers)}"
        self.server, self.client = f"{name}s", f"{name}c"
        self._steps = steps(self.server, self.client, rate, delay)

    @property
    def for_server(self) -> tuple[str, ...]:
        """Words before the server's program."""
        return (*_program("ip"), "netns", "exec", self.server)

    @property
    def for_client(self) -> tuple[str, ...]:
        """Words before the load's program."""
        return (*_program("ip"), "netns", "exec", self.client)

    def up(self) -> None:
        """Makes them; an `InfrastructureError` says what was refused, and nothing is left of it."""
        reason = self._refusal()
        if reason is not None:
            raise InfrastructureError(reason)

    def _refusal(self) -> str | None:
        """Makes them; why that can't be done, and what to do about it."""
        for step in self._steps:
            tool, *words = step.argv
            try:
                done = process.run([*_program(tool), *words], timeout=_SECONDS)
            except InfrastructureError as error:
                self.down()
                return f"{error}; install iproute2, {_INSTEAD}"
            if not done.ok:
                self.down()
                if done.timed_out:
                    return f"`{' '.join(step.argv)}` took longer than {_SECONDS:g} s: this host is too busy; try later"
                said = " ".join(done.output.split()) or f"`{' '.join(step.argv[:3])}` failed"
                return f"no {step.part}: {said}; {_ADVICE[step.part]}"
        return None

    def down(self) -> None:
        """Removes them, as far as they are there; may be called twice. What runs in them must have ended."""
        for name in (self.server, self.client):
            if Path(warden.FOLDER, name).exists():
                remove(name)


def lacking(rate: str = "", delay: str = "") -> str | None:
    """Why this machine can't lay such a cable, found out by laying one; one line that says what to do. None: it can."""
    cable = Cable(rate, delay)
    try:
        return cable._refusal()
    finally:
        cable.down()


def offers() -> dict[str, str | None]:
    """What of this can be had here: by condition, why not; None where it can."""
    found = {"transport=remote": lacking()}
    if found["transport=remote"] is None:
        found |= {"rate=": lacking("1gbit"), "delay=": lacking("", "1ms")}
    return found


def remove(name: str) -> bool:
    """Removes a namespace; whether that went well."""
    with contextlib.suppress(InfrastructureError):
        return process.run([*_program("ip"), "netns", "delete", name], timeout=_SECONDS).ok
    return False


def sweep() -> list[str]:
    """Removes the namespaces of runs that are no longer there; returns their names.

    One in which something still runs is left: its owner may have another number in its own container.
    """
    removed = []
    for name in warden.namespaces():
        owner = warden.owner_of(name)
        if owner == os.getpid() or Path(f"/proc/{owner}").exists():
            continue
        for _ in range(20):  # what was killed a moment ago takes another one to go
            if not process.capture([*_program("ip"), "netns", "pids", name]).split():
                if remove(name):
                    removed.append(name)
                break
            time.sleep(0.05)
    return removed


def _program(name: str) -> Sequence[str]:
    """The program's path, also where only an administrator's PATH has it."""
    return [str(system.find_programs([name])[name] or name)]
