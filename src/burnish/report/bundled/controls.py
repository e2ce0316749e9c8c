"""A study's negative controls, pooled: patches that give the same instructions here, so cannot differ; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from burnish.report.words import plural
from burnish.statistics.means import Ratio, geometric_mean

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line

CONTROL = "control"
"""The value of `Line.shows` for a row that is a negative control on the host's architecture."""

EQUIVALENCE = 0.90
"""Level of the interval that must lie within ±delta: two one-sided tests at 5 % each (Schuirmann 1987)."""

Verdict = Literal["equivalent", "different", "undecided", "identical code", "open"]


@dataclass(frozen=True)
class Controls:
    """The controls of a table.

    Attributes:
        cells: number of cells that are controls of this engine.
        identical: number of these that are identical code, so that there was nothing to measure.
        measured: number of these that have a valid ratio.
        pooled: geometric mean of these with its interval: 90 % for ``equivalent`` and
            ``undecided``, 95 % for ``different``; None if none was measured.
        verdict: the verdict on the pooled ratio; ``identical code`` if every cell is, ``open`` while nothing is known.
        false: single cells that were found faster or slower, as (row, load).
        delta: largest distance of a ratio from 1 that counts as no difference.
    """

    cells: int
    identical: int
    measured: int
    pooled: Ratio | None
    verdict: Verdict
    false: tuple[tuple[str, str], ...]
    delta: float

    @property
    def sentence(self) -> str:
        """The controls in one sentence."""
        were = "was" if self.measured == 1 else "were"
        parts = [f"Negative controls: {self.identical} of {plural(self.cells, 'cell')} are identical code"]
        parts.append(f"{self.measured} {were} measured")
        if self.pooled is not None:
            names = ", ".join(f"{row} on {load}" for row, load in self.false)
            parts += [
                f"pooled (geometric mean) {self._pooled_words}",
                f"single cells found faster or slower: {names or 'none'}",
            ]
        return f"{'; '.join(parts)}."

    @property
    def _pooled_words(self) -> str:
        assert self.pooled is not None  # noqa: S101 - only called then
        value, low, high = (100.0 * (end - 1.0) for end in (self.pooled.ratio, self.pooled.low, self.pooled.high))
        within = f"within ±{100 * self.delta:g} %"
        words = {
            "equivalent": f"equivalent {within}",
            "different": "different from 0, which no such patch can cause",
        }.get(self.verdict, f"neither equivalent {within} nor different from 0")
        return f"{value:+.2f} % [{low:+.2f}, {high:+.2f}] ({100 * self.pooled.level:.0f} %): {words}"


def controls(lines: Sequence[Line], delta: float) -> Controls | None:
    """The controls among these cells; None if there are none.

    Args:
        lines: all cells of a table.
        delta: largest distance of a ratio from 1 that counts as no difference.
    """
    chosen = [line for line in lines if line.shows == CONTROL and (line.verdict or line.identical or not line.settled)]
    if not chosen:
        return None
    tried = [line for line in chosen if line.interval is not None and line.verdict != "invalid"]
    identical = sum(line.identical for line in chosen)
    known = [line.interval for line in tried if line.interval is not None]
    near, wide = geometric_mean(known, EQUIVALENCE), geometric_mean(known)
    verdict: Verdict = "identical code" if identical == len(chosen) else "open"
    if near is not None and wide is not None:
        verdict = "undecided"
        if near.low > 1 / (1 + delta) and near.high < 1 + delta:
            verdict = "equivalent"
        elif wide.low > 1 or wide.high < 1:
            verdict = "different"
    false = tuple((line.row, line.load) for line in tried if line.corrected in ("faster", "slower"))
    pooled = wide if verdict == "different" else near
    return Controls(len(chosen), identical, len(tried), pooled, verdict, false, delta)
