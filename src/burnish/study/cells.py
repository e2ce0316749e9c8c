"""The cells of a study: what is compared with what, on which load, and what for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from burnish.model.workload import Design, Workload

AA = "A/A"
"""Candidate of a canary's cell: the baseline once more."""


class Role(StrEnum):
    """What a cell is for."""

    CLAIM = "claim"
    CANARY = "canary"
    CONFIRMATION = "confirmation"


def own_design(workload: Workload, *, conditions: bool) -> Design:
    """The design where nobody names one: the load's, but for two conditions.

    Those move work to the client, the kernel and the network, so a side must be alone under load, as a user will see
    it. In short turns, since what the neighbours leave changes from second to second: solo, the starts of one
    comparison lay almost three times as far apart (docs/WORKLOADS.md, Conditions).

    Args:
        workload: the load.
        conditions: whether two conditions are compared.
    """
    return Design.INTERLEAVED if conditions else workload.design


@dataclass(frozen=True)
class Cell:
    """One comparison: a candidate against the baseline on one workload.

    Attributes:
        candidate: a candidate's name, or `AA`.
        workload: the load.
        design: how the sides share the host.
        headline: what the verdict is about: ``capacity`` where server and load share cores, else ``throughput``.
        role: what the cell is for.
        tag: what sets it apart from another cell of the same candidate and workload.
    """

    candidate: str
    workload: Workload
    design: Design = Design.DUET
    headline: str = "capacity"
    role: Role = Role.CLAIM
    tag: str = ""

    @property
    def name(self) -> str:
        """As in the record: ``clang-pgo-thinlto / oltp_read_only``, with a tag before it where one is needed."""
        return f"{self.tag}: {self.label}" if self.tag else self.label

    @property
    def label(self) -> str:
        """Candidate and workload."""
        return f"{self.candidate} / {self.workload.name}"
