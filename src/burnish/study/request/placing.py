"""Design and placement as a user asks for them: each implies the other where it is not given; pure."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.base.errors import UserError
from burnish.model.workload import Design, Placement
from burnish.study.request.options import Options


@dataclass(frozen=True)
class Placing:
    """What was asked for; both None: each load's own.

    Attributes:
        design: the trial design.
        placement: which cores servers and clients have.
    """

    design: Design | None = None
    placement: Placement | None = None

    @property
    def identity(self) -> str:
        """The placement if the design does not imply it; '' otherwise, as in studies from before there was a choice."""
        usual = self.design.usual if self.design is not None else None
        return "" if self.placement in (None, usual) else str(self.placement)


def placing(options: Options) -> Placing:
    """Design and placement of a request.

    Raises:
        UserError: they do not go together.
    """
    design = Design(options.design) if options.design else None
    if options.placement is None:
        return Placing(design, design.usual if design is not None else None)
    placement = Placement(options.placement)
    if design is None:
        design = design_for(placement)
    if not design.allows(placement):
        other = "duet" if placement is Placement.SHARED else "interleaved or solo"
        raise UserError(
            f"--design {design} --placement {placement}: {_WHY[placement]}; give {other}, or leave --design out"
        )
    return Placing(design, placement)


_WHY = {
    Placement.SHARED: "one side at a time has no other side to share the cores with",
    Placement.APART: "in a duet each server shares its half of the cores with its clients",
    Placement.WHOLE: "in a duet each side has half of the cores",
}


def design_for(placement: Placement, own: Design = Design.INTERLEAVED) -> Design:
    """The design of a placement: `own` if that allows it.

    Turns of an interleaved start are short, so that what other guests do to the host hits both sides alike.
    """
    if own.allows(placement):
        return own
    return Design.DUET if placement is Placement.SHARED else Design.INTERLEAVED
