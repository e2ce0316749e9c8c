"""Emulates a second host: two private network namespaces connected by a cable (a veth pair).

A server runs in one of them, its load in the other. Neither has any other device, so each can only reach the other one
and be reached from it; the host's own network is not changed. Their names contain the run's mark. The process that made
them removes them; otherwise the warden does when the process is gone, and `sweep` if the warden was killed too.
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
"""Address of the server's end; every pair of namespaces is a separate network, so all use the same addresses."""

PORT = 3306
"""Nothing else runs in the server's namespace, so its port is free."""

_OTHER, _PREFIX_BITS, _DEVICE = "10.0.0.2", 30, "veth0"
_QUEUE_MS = 400  # queueing limit: longer than any TCP window needs, so that no packet is dropped
_BURST_S = 0.001
_FRAMES = 2 * 1514
_SECONDS = 120.0  # the kernel serialises changes of networks, and is slow to remove one
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
    """One command to set up a cable.

    Attributes:
        part: kernel feature that it needs: ``namespaces``, ``veth``, ``tbf`` or ``netem``.
        argv: the command line.
    """

    part: str
    argv: tuple[str, ...]


def steps(server: str, client: str, rate: str = "", delay: str = "") -> list[Step]:
    """The commands that make two namespaces and the cable between them, in order; pure.

    Args:
        server: name of the server's namespace.
        client: name of the load's namespace.
        rate: limit for each direction in tc's syntax (``100mbit``); '' for none.
        delay: delay of each direction in tc's syntax (``1ms``), half of the round trip; '' for none.
    """
    result = [Step("namespaces", ("ip", "netns", "add", name)) for name in (server, client)]
    veth = ("type", "veth", "peer", "name", _DEVICE, "netns", client)
    result.append(Step("veth", ("ip", "link", "add", _DEVICE, "netns", server, *veth)))
    for name, address in ((server, ADDRESS), (client, _OTHER)):
        result += [
            Step("veth", ("ip", "-n", name, "address", "add", f"{address}/{_PREFIX_BITS}", "dev", _DEVICE)),
            Step("veth", ("ip", "-n", name, "link", "set", _DEVICE, "up")),
        ]
        queue = ("tc", "-n", name, "qdisc", "add", "dev", _DEVICE)
        if delay:
            result.append(Step("netem", (*queue, "root", "handle", "1:", "netem", "delay", delay)))
        if rate:
            place = ("parent", "1:1", "handle", "10:") if delay else ("root",)
            limits = ("rate", rate, "burst", str(burst(rate)), "latency", f"{_QUEUE_MS}ms")
            result.append(Step("tbf", (*queue, *place, "tbf", *limits)))
    return result


def burst(rate: str) -> int:
    """Burst size in bytes: the amount of one millisecond, at least two frames."""
    match = _RATE.match(rate)
    bits = float(match[1]) * _UNITS[match[2]] if match else 0.0
    return max(_FRAMES, round(bits / 8 * _BURST_S))


class Cable:
    """Two namespaces and the cable between them, from `up` until `down`.

    Args:
        rate: see `steps`.
        delay: see `steps`.
    """

    def __init__(self, rate: str = "", delay: str = "") -> None:
        name = f"{warden.NAMESPACE}{process.run_id()}-{next(_numbers)}"
        self.server, self.client = f"{name}s", f"{name}c"
        self._steps = steps(self.server, self.client, rate, delay)

    @property
    def for_server(self) -> tuple[str, ...]:
        """Command prefix of the server."""
        return (*_program("ip"), "netns", "exec", self.server)

    @property
    def for_client(self) -> tuple[str, ...]:
        """Command prefix of the load."""
        return (*_program("ip"), "netns", "exec", self.client)

    def up(self) -> None:
        """Makes them; if that fails, raises an `InfrastructureError` and removes what was made."""
        reason = self._refusal()
        if reason is not None:
            raise InfrastructureError(reason)

    def _refusal(self) -> str | None:
        """Makes them; if that fails, returns the reason and what to do about it."""
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
                message = " ".join(done.output.split()) or f"`{' '.join(step.argv[:3])}` failed"
                return f"no {step.part}: {message}; {_ADVICE[step.part]}"
        return None

    def down(self) -> None:
        """Removes those that exist; may be called twice. Processes in them must have ended."""
        for name in (self.server, self.client):
            if Path(warden.FOLDER, name).exists():
                remove(name)


def lacking(rate: str = "", delay: str = "") -> str | None:
    """Why setting up such a cable fails on this machine, and what to do, in one line; None if it works."""
    cable = Cable(rate, delay)
    try:
        return cable._refusal()
    finally:
        cable.down()


def offers() -> dict[str, str | None]:
    """By condition, why it is not available on this machine; None if it is."""
    result = {"transport=remote": lacking()}
    if result["transport=remote"] is None:
        result |= {"rate=": lacking("1gbit"), "delay=": lacking("", "1ms")}
    return result


def remove(name: str) -> bool:
    """Removes a namespace; returns whether that succeeded."""
    with contextlib.suppress(InfrastructureError):
        return process.run([*_program("ip"), "netns", "delete", name], timeout=_SECONDS).ok
    return False


def sweep() -> list[str]:
    """Removes the namespaces of runs that no longer exist; returns their names.

    A namespace with running processes is kept: its owner may have another pid in its own container.
    """
    removed = []
    for name in warden.namespaces():
        owner = warden.owner_of(name)
        if owner == os.getpid() or Path(f"/proc/{owner}").exists():
            continue
        for _ in range(20):  # processes that were just killed need a moment to disappear
            if not process.capture([*_program("ip"), "netns", "pids", name]).split():
                if remove(name):
                    removed.append(name)
                break
            time.sleep(0.05)
    return removed


def _program(name: str) -> Sequence[str]:
    """The program's path, even if it is only on an administrator's PATH."""
    return [str(system.find_programs([name])[name] or name)]
