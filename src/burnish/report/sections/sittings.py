"""What the intervals of a report are about: another sitting, and what that rests on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result
    from burnish.report.sittings import Sitting


def lines(result: Result) -> list[str]:
    """Which sittings there were, and what is assumed of others; empty while there is no verdict."""
    sittings = _of(result)
    if not sittings:
        return []
    told = [sitting for sitting in sittings if sitting.assumed is None and sitting.heterogeneity is None]
    assumed = [sitting for sitting in sittings if sitting.assumed]
    texts = ["intervals are for another sitting on this kind of host; 'sitting' is the half-width within one sitting"]
    if assumed:
        largest = max(sitting.assumed or 0.0 for sitting in assumed)
        spread = f"±{100 * math.expm1(largest):.2g} % (one standard deviation)"
        count = max(sitting.sittings for sitting in assumed)
        texts.append(
            f"{plural(count, 'sitting')}: that sittings differ by {spread} is taken from {assumed[0].source}; "
            "--sittings 3 measures it"
        )
    if told:
        most = max(sitting.sittings for sitting in told)
        texts.append(f"{plural(most, 'sitting')}, each of which counts once")
    return texts


def _of(result: Result) -> list[Sitting]:
    """What is known of the sittings of every cell."""
    cells = [row.sitting for row in (*result.rows, *result.confirmations)]
    cells += [line.sitting for line in result.shipped.lines] if result.shipped else []
    return [sitting for sitting in cells if sitting is not None]
