"""Slots: each side's first core set, data copy and place in the launch order; in which order they warm up; pure."""

from __future__ import annotations

import random
from collections.abc import Sequence


def draw_slots(labels: Sequence[str], seed: str, number: int) -> dict[str, dict[str, int]]:
    """Random slots for one start, balanced in blocks of two starts; equal arguments give equal slots.

    The second start of a block reverses every slot of the first. With independent draws, the advantage of a slot could
    look like a difference between builds (docs/METHODOLOGY.md).

    Args:
        labels: the sides.
        seed: the cell's seed, the same for all its starts.
        number: number of the start, from 1.

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


def draw_order(labels: Sequence[str], seed: str, number: int) -> tuple[str, ...]:
    """The sides in a random order, balanced as `draw_slots` does it: the second start of a block has it reversed."""
    block, turned = divmod(number - 1, 2)
    order = tuple(random.Random(f"{seed}/{block}").sample(list(labels), len(labels)))
    return order[::-1] if turned else order
