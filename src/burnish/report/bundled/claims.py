"""Whether a published figure still holds here, by the interval to be repeated; pure.

The rules, in docs/STUDIES.md in words. What is compared is a change in per cent, of the published range and of the
measured interval:

* no claim: no figure in per cent, or both sides are the same build;
* undecided: something different was measured, or the interval is wide enough for both what was published and nothing;
* yes: the published sign is proved here, and range and interval meet; or both say that there is no difference;
* smaller, larger: the interval lies wholly on the side of 0 of the range, or wholly beyond it;
* reversed: the other sign is proved here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from burnish.catalogue.bundled.likeness import DIFFERENT, KINDS
from burnish.record.events.bundled import PublishedFigure
from burnish.report.words import plural
from burnish.statistics.means import Ratio


class Holds(StrEnum):
    """The answer to "does the published figure still hold?"."""

    YES = "yes"
    SMALLER = "smaller"
    LARGER = "larger"
    REVERSED = "reversed"
    UNKNOWN = "undecided"


@dataclass(frozen=True)
class Measured:
    """What a claim is compared with.

    Attributes:
        verdict: the verdict in the family of all, such as ``faster``; ``identical code`` if nothing can differ.
        interval: the ratio with its interval to be repeated; None without one.
    """

    verdict: str
    interval: Ratio | None = None


IDENTICAL = "identical code"


def is_claim(figure: PublishedFigure | None, *, control: bool = False) -> bool:
    """Whether something was claimed: a change in per cent, between sides that differ."""
    return not control and figure is not None and figure.unit == "%" and figure.low is not None


def holds(figure: PublishedFigure, measured: Measured, likeness: str, delta: float) -> Holds:
    """Whether a claim still holds.

    Args:
        figure: what was published, in per cent.
        measured: what was measured here.
        likeness: how what was measured relates to it (see `burnish.catalogue.bundled.likeness`).
        delta: largest distance of a ratio from 1 that counts as no difference (0.01 = 1 %).
    """
    assert figure.low is not None  # noqa: S101 - a claim has a figure
    assert figure.high is not None  # noqa: S101 - a claim has a figure
    if likeness == DIFFERENT:
        return Holds.UNKNOWN
    none = max(abs(figure.low), abs(figure.high)) <= 100.0 * delta
    if measured.verdict == IDENTICAL:
        return Holds.YES if none else Holds.SMALLER
    if measured.interval is None or measured.verdict in ("invalid", ""):
        return Holds.UNKNOWN
    if none and measured.verdict == "equivalent":
        return Holds.YES
    low, high = 100.0 * (measured.interval.low - 1.0), 100.0 * (measured.interval.high - 1.0)
    return _by_sign(_as_printed(figure.low, figure.high), (low, high), measured.verdict)


def _by_sign(published: tuple[float, float], measured: tuple[float, float], verdict: str) -> Holds:
    """The answer for a claim of a difference; both as (low, high) in per cent."""
    if published[1] <= 0:  # a claim of slower: the same with every sign turned
        published, measured = (-published[1], -published[0]), (-measured[1], -measured[0])
        verdict = {"slower": "faster", "faster": "slower"}.get(verdict, verdict)
    if verdict == "slower" and published[0] >= 0:
        return Holds.REVERSED
    if measured[1] < published[0]:
        return Holds.SMALLER
    if measured[0] > published[1]:
        return Holds.LARGER
    return Holds.YES if verdict == "faster" else Holds.UNKNOWN


def _as_printed(low: float, high: float) -> tuple[float, float]:
    """The range with half a unit of the last printed digit on each side, but not across 0: 4 is 3.5 to 4.5."""
    least, most = low - _half(low), high + _half(high)
    return (max(0.0, least) if low >= 0 else least), (min(0.0, most) if high <= 0 < most else most)


def _half(value: float) -> float:
    """Half a unit of a figure's last digit; of a computed figure, next to nothing."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(0, exponent) if isinstance(exponent, int) and math.isfinite(value) else 0.0


@dataclass(frozen=True)
class Answered:
    """A claim with its answer.

    Attributes:
        holds: the answer; None if nothing was measured.
        likeness: how what was measured relates to what was published; '' if unknown.
    """

    holds: Holds | None
    likeness: str


_WORDS = {
    Holds.SMALLER: ("is smaller", "are smaller"),
    Holds.LARGER: ("is larger", "are larger"),
    Holds.REVERSED: ("is reversed", "are reversed"),
    Holds.UNKNOWN: ("is undecided", "are undecided"),
}


def sentences(claims: Sequence[Answered]) -> list[str]:
    """How many published claims still hold: of all that were measured, and of those measured as published."""
    told = [claim for claim in claims if claim.holds is not None]
    open_ones = len(claims) - len(told)
    if not claims:
        return []
    if not told:
        return [f"None of the published claims has been measured yet ({len(claims)})."]
    texts = [f"{_counted(told)} of {plural(len(told), 'published claim')} still {_hold(told)} here{_rest(told)}."]
    for kind in KINDS[:2]:
        own = [claim for claim in told if claim.likeness == kind]
        if own and len(own) < len(told):
            what = "measured as published" if kind == KINDS[0] else "measured by a stand-in"
            texts.append(f"Of the {len(own)} {what}, {_counted(own)} still {_hold(own)}{_rest(own)}.")
    if open_ones:
        texts.append(f"{plural(open_ones, 'more claim')} {'has' if open_ones == 1 else 'have'} not been measured.")
    return texts


def _counted(claims: Iterable[Answered]) -> int:
    return sum(claim.holds is Holds.YES for claim in claims)


def _hold(claims: Sequence[Answered]) -> str:
    return "holds" if 1 in (_counted(claims), len(claims)) else "hold"


def _rest(claims: Sequence[Answered]) -> str:
    """The claims that do not hold, by kind; of those that are undecided, how many are about something else."""
    parts = []
    for kind, (one, many) in _WORDS.items():
        count = sum(claim.holds is kind for claim in claims)
        parts += [f"{count} {one if count == 1 else many}"] if count else []
    if other := sum(claim.holds is Holds.UNKNOWN and claim.likeness == DIFFERENT for claim in claims):
        parts[-1] += f" ({other} of them as something different is measured)"
    return f": {', '.join(parts)}" if parts else ""
