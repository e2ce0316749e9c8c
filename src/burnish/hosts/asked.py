"""What is asked of many hosts, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.hosts.carried import Carried
from burnish.hosts.host import Chosen

COMING_S = 60.0
"""How long hosts that are named may take to come when a study begins."""


@dataclass(frozen=True)
class Asked:
    """What is asked of the hosts.

    Attributes:
        name: the run's, part of its keys.
        command: the study's command, with its files.
        title: the command, for people.
        chosen: where it is measured.
        store: where artefacts are shared; None: nowhere, every host builds for itself.
        limit: bytes that they may take there.
        fresh: whether hosts begin new runs.
        patience: seconds that a task waits for a host that can do it.
        coming: seconds that a study waits for its hosts when it begins.
    """

    name: str
    command: Carried
    title: str
    chosen: Chosen
    store: str | None = None
    limit: int | None = None
    fresh: bool = False
    patience: float = 600.0
    coming: float = COMING_S


@dataclass
class Outcome:
    """What came of it.

    Attributes:
        records: by host, its exported record, packed.
        unfinished: hosts whose runs go on with the same command.
        failed: by host, why it has no result.
    """

    records: dict[str, bytes] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
