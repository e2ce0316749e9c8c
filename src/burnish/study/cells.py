"""The cells of a study's trials: which candidate is compared, on which load, in which design, for which purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.model.cell import AA, CellId, Role
from burnish.model.workload import Design, Placement, Workload


def own_design(workload: Workload, *, conditions: bool) -> Design:
    """The default design: the load's own, unless two conditions are compared.

    Conditions move work to the client, the kernel and the network, so a side must be alone under load, as it will be
    in production. Turns are short, because the CPU time that other guests leave changes from second to second: with
    solo, the starts of one comparison scattered almost three times as much (docs/WORKLOADS.md, Conditions).

    Args:
        workload: the load.
        conditions: whether two conditions are compared.
    """
    return Design.INTERLEAVED if conditions else workload.design


def own_placement(workload: Workload, design: Design) -> Placement:
    """The default placement: the load's own if its trial has a design that allows it, otherwise the design's."""
    own = workload.placement
    return own if own is not None and design.allows(own) else design.usual


@dataclass(frozen=True)
class Cell:
    """One comparison of a candidate with the baseline on one workload, as trials run it.

    Attributes:
        id: which cell of the study it is.
        workload: the load.
        design: how the sides share the host.
        headline: name of the quantity that the verdict is about.
        placement: which cores servers and clients have.
    """

    id: CellId
    workload: Workload
    design: Design = Design.DUET
    headline: str = "capacity"
    placement: Placement = Placement.SHARED

    @property
    def name(self) -> str:
        """Name for people and logs; the seeds of its starts are derived from it too."""
        return self.id.name

    @property
    def label(self) -> str:
        """The candidate's name as a side of each start."""
        return self.id.label

    @property
    def role(self) -> Role:
        """Purpose of the cell."""
        return self.id.role

    @property
    def manner(self) -> tuple[str, Design, Placement]:
        """What a calibration is of: load, design and placement, on which noise depends."""
        return self.workload.name, self.design, self.placement

    @property
    def canary(self) -> Cell:
        """The baseline against itself, on the same load under the same condition and design."""
        plain = CellId(
            AA,
            self.id.workload,
            Role.CANARY,
            base=self.id.base,
            given=self.id.given,
            design=self.id.design,
            placement=self.id.placement,
        )
        return replace(self, id=plain)
