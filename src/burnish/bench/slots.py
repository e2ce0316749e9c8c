"""Slots: which side has which core set first, which data copy, which place in the launch order; pure."""

from __future__ import annotations

import random
from collections.abc import Sequence


def draw_slots(labels: Sequence[str], seed: str, number: int) -> dict[str, dict[str, int]]:
    """Random slots for one start, balanced over each block of two; equal arguments draw equal slots.

    Of two starts that follow each other, the second one turns every slot of the first round. Independent draws
    would let a slot that is worth much pass for a difference between builds (docs/METHODOLOGY.md).

    Args:
        labels: the sides.
        seed: the cell's, the same for all its starts.
        number: of the start, from 1.

    Returns:
        by label: ``cores`` (index of its first core set), ``data`` (index of its data copy), ``launch`` (place
        in the launch order).
    """
    block, turned = divmod(number - 1, 2)
    chance = random.Random(f"{seed}/{block}")
    drawn: dict[str, dict[str, int]] = {label: {} for label in labels}
    for slot in ("cores", "data", "launch"):
        for index, label in enumerate(chance.sample(list(labels), len(labels))):
            drawn[label][slot] = len(labels) - 1 - index if turned else index
    return drawn
