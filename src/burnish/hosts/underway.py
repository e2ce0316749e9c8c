"""What hosts are doing that whoever asks has not given them: since an earlier call, for another study, or because they
were away and have gone on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.hosts.dispatch import Dispatcher, Work
from burnish.hosts.host import Host


@dataclass
class UnderWay:
    """What hosts are doing beside what they were given.

    Attributes:
        answers: tasks that a host was asked for while another one has them, by key and host: the first answer counts.
    """

    answers: dict[tuple[str, str], Any] = field(default_factory=dict)
    _answered: set[tuple[str, str]] = field(default_factory=set)

    def answered(self, key: str, host: str | None) -> None:
        """Notes that a host has answered; what it says of itself is some seconds old and may still name the task."""
        if host is not None:
            self._answered.add((key, host))

    def found(self, hosts: Iterable[Host], dispatcher: Dispatcher) -> dict[str, str]:
        """By host, the key of the task that it is at without having been given it."""
        return {
            host.name: host.doing
            for host in hosts
            if work_of(host.doing) is not None
            and dispatcher.on(host.doing) != host.name
            and (host.doing, host.name) not in self._answered
        }

    def forget(self, host: str) -> None:
        """A host is gone: it answers nothing more, and what it says when it is back is new."""
        self.answers = {at: future for at, future in self.answers.items() if at[1] != host}
        self._answered = {at for at in self._answered if at[1] != host}

    def first(self) -> dict[str, tuple[str, Any]]:
        """By key, the host that has answered beside the one that was given the task, and its future."""
        done = {key: (host, future) for (key, host), future in self.answers.items() if future.done()}
        self.answers = {at: future for at, future in self.answers.items() if not future.done()}
        return done


def work_of(key: str) -> Work | None:
    """What kind of work the task with this key is that keeps a host busy; None if it is none."""
    kind = key.partition("-")[0]
    return Work(kind) if kind in (Work.BUILD, Work.BENCH) else None


def kinds(found: Mapping[str, str]) -> dict[str, Work]:
    """By host, the kind of work that it is at."""
    return {host: work for host, key in found.items() if (work := work_of(key)) is not None}
