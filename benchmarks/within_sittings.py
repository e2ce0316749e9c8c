"""Whether a quantity explains how starts of a comparison differ, the sitting being a block; for host_state.py."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]
Groups = Mapping[tuple[Hashable, Hashable], Sequence[tuple[float, float]]]
ORDERS = 20_000
"""Random orders from which a p-value is."""
FEWEST = 2
"""Degrees of freedom below which sittings tell nothing about what is between them."""
NOTHING = 1e-18
"""Sums of squares up to which values do not differ."""


@dataclass(frozen=True)
class Found:
    """What a quantity tells of starts.

    Attributes:
        starts: number of starts, of comparisons with two and more in a sitting.
        r: correlation within comparisons and sittings.
        p: of an |r| that is as large by chance.
        slope: of the log-ratio on the value.
        signs: number of sittings in which r has the same sign, and of all that tell.
        removed: share of the standard deviation of a start that the slope of all sittings removes.
        foretold: the same with the slope of all other sittings; negative if it adds; None with a single sitting.
        between: correlation of sittings' means; None with too few.
        df: degrees of freedom of that: sittings, less one for each set that shares comparisons, less one.
    """

    starts: int
    r: float
    p: float
    slope: float
    signs: tuple[int, int]
    removed: float
    foretold: float | None
    between: float | None
    df: int

    @property
    def p_between(self) -> float:
        """Of so large a correlation of sittings' means by chance; 1 where there is none."""
        if self.between is None:
            return 1.0
        t = abs(self.between) * math.sqrt(self.df / max(1e-12, 1 - self.between**2))
        return 2 * float(stats.t.sf(t, self.df))


def examine(groups: Groups, seed: int = 1) -> Found | None:
    """What a quantity tells; None if it never differs, or there are too few starts.

    Args:
        groups: by sitting and comparison, (value, log-ratio) of each start.
        seed: of the random orders.
    """
    parts: list[tuple[Hashable, Floats, Floats]] = []  # sitting; values and readings less their means
    for (sitting, _), group in groups.items():
        if len(group) > 1:
            values, readings = (np.asarray(group) - np.mean(group, axis=0)).T
            parts.append((sitting, values, readings))
    squares, products, total = (sum(part) for part in zip((0.0, 0.0, 0.0), *map(_sums, parts), strict=True))
    count = sum(len(values) for _, values, _ in parts)
    if count - len(parts) < 2 or min(squares, total) < NOTHING:
        return None
    slope = products / squares
    chance = np.random.default_rng(seed)
    by_chance = np.zeros(ORDERS)
    for _, values, readings in parts:
        by_chance += chance.permuted(np.tile(values, (ORDERS, 1)), axis=1) @ readings
    larger = int(np.sum(np.abs(by_chance) >= abs(products) * (1 - 1e-9)))
    sums: dict[Hashable, Floats] = defaultdict(lambda: np.zeros(3))
    for part in parts:
        sums[part[0]] += _sums(part)
    left = 0.0
    for own, product, square in sums.values():
        other = (products - product) / (squares - own) if squares - own > NOTHING else 0.0
        left += square - 2 * other * product + other * other * own
    telling = [product for own, product, _ in sums.values() if own > NOTHING]
    between, df = _between(groups)
    return Found(
        starts=count,
        r=products / math.sqrt(squares * total),
        p=(1 + larger) / (1 + ORDERS),
        slope=slope,
        signs=(sum(bool(product * slope > 0) for product in telling), len(telling)),
        removed=1 - math.sqrt(max(0.0, 1 - slope * products / total)),
        foretold=1 - math.sqrt(left / total) if len(sums) > 1 else None,
        between=between,
        df=df,
    )


def spread(groups: Groups) -> float:
    """Standard deviation of a start's log-ratio within its comparison and sitting; 0 if none has two starts."""
    of = [[reading for _, reading in group] for group in groups.values() if len(group) > 1]
    freedom = sum(len(readings) - 1 for readings in of)
    return math.sqrt(sum(float(np.var(each)) * len(each) for each in of) / freedom) if freedom else 0.0


def _sums(part: tuple[Hashable, Floats, Floats]) -> tuple[float, float, float]:
    """Of squares of the values, of products, of squares of the readings."""
    _, values, readings = part
    return float(values @ values), float(values @ readings), float(readings @ readings)


def _between(groups: Groups) -> tuple[float | None, int]:
    """Correlation of sittings' means less those of their comparisons, a sitting being one observation, and its df."""
    means: dict[Hashable, dict[Hashable, Floats]] = defaultdict(dict)
    for (sitting, comparison), group in groups.items():
        means[comparison][sitting] = np.asarray(group).mean(axis=0)
    off: dict[Hashable, list[Floats]] = defaultdict(list)
    together: list[set[Hashable]] = []
    for of_sitting in means.values():
        if len(of_sitting) < 2:
            continue
        middle = np.mean(list(of_sitting.values()), axis=0)
        for sitting, value in of_sitting.items():
            off[sitting].append(value - middle)
        joined = [group for group in together if group & of_sitting.keys()]
        together = [group for group in together if group not in joined] + [set(of_sitting).union(*joined)]
    df = len(off) - len(together) - 1
    if df < FEWEST:
        return None, max(0, df)
    x, y = np.array([np.mean(values, axis=0) for values in off.values()]).T
    return float(np.corrcoef(x, y)[0, 1]), df


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's method."""
    corrected = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected
