"""The cells of a study's trials: what is compared with what, on which load, in which design, what for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.model.cell import AA, CellId, Role
from burnish.model.workload import Design, Workload


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
    """A candidate against the baseline on one workload, as trials run it.

    Attributes:
        id: which cell of the study it is.
        workload: the load.
        design: how the sides share the host.
        headline: name of the quantity that the verdict is about.
    """

    id: CellId
    workload: Workload
    design: Design = Design.DUET
    headline: str = "capacity"

    @property
    def name(self) -> str:
        """For people and logs; the seeds of its starts are drawn from it too."""
        return self.id.name

    @property
    def label(self) -> str:
        """The candidate's name as a side of each start."""
        return self.id.label

    @property
    def role(self) -> Role:
        """What it is for."""
        return self.id.role

    @property
    def canary(self) -> Cell:
        """The baseline against itself, on the same load under the same condition and design."""
        plain = CellId(AA, self.id.workload, Role.CANARY, base=self.id.base, given=self.id.given, design=self.id.design)
        return replace(self, id=plain)
