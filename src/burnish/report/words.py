"""Figures as a reader sees them: ratios with their intervals, times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

from burnish.base.visible import visible
from burnish.statistics.intervals import Interval
from burnish.statistics.means import Ratio

USUAL_LEVEL = 0.95
EQUIVALENCE_NOTE = "* the 90 % interval, which equivalence is read off (two one-sided tests at 5 %)"


def interval(value: Ratio | None) -> str:
    """A ratio with its interval, ``1.412 [1.398, 1.426]``, marked * at another level than 95 %; or a dash."""
    if value is None:
        return "-"
    if value.high >= 100:
        return f"{value.ratio:.3f} [?]"
    return f"{value.ratio:.3f} [{value.low:.3f}, {value.high:.3f}]{level_mark(value)}"


def level_mark(value: Ratio) -> str:
    """The mark after an interval whose level is not 95 %: a star; else nothing."""
    return "" if abs(value.level - USUAL_LEVEL) < 1e-9 else "*"


def star_note(values: Iterable[Ratio | None]) -> list[str]:
    """What the star of `level_mark` says, if one of these intervals has it."""
    return [EQUIVALENCE_NOTE] if any(value is not None and level_mark(value) for value in values) else []


def interval_words(value: Ratio | None) -> str:
    """A ratio with its interval, for a sentence."""
    return "unknown" if value is None else f"{value.ratio:.3f} [{value.low:.3f}, {value.high:.3f}]"


def per_cent(value: Ratio) -> str:
    """A ratio as a change in per cent with its interval: ``+3.1 [+2.4, +3.8]``."""
    ratio, low, high = (100.0 * (end - 1.0) for end in (value.ratio, value.low, value.high))
    return f"{ratio:+.1f} [{low:+.1f}, {high:+.1f}]"


def inverse(value: Ratio) -> Interval:
    """The same comparison with its sides swapped."""
    return Interval(1 / value.ratio, 1 / value.high, 1 / value.low, value.level)


def half_width(value: Ratio | None) -> str:
    """Half the width of an interval: ``±0.7 %``, marked * at another level than 95 %; or a dash."""
    if value is None or value.low <= 0 or value.high >= 100:
        return "-"
    return f"±{100.0 * (math.sqrt(value.high / value.low) - 1.0):.2g} %{level_mark(value)}"


def percent(share: float, digits: int = 0) -> str:
    """A share (0 to 1) in per cent: 42 %, 0.62 %."""
    return f"{100.0 * share:,.{digits}f} %"


def spaced(text: str) -> str:
    """The text with a space between a figure and its per cent sign."""
    return re.sub(r"(?<=\d)%(?!\w)", " %", text)


def plural(count: int, noun: str, plural_noun: str = "") -> str:
    """A count with its noun: 1 start, 8 starts, 2 patches."""
    return f"{count:,} {noun if count == 1 else plural_noun or f'{noun}s'}"


def some(names: Sequence[str], most: int = 6) -> str:
    """Names with commas, of many only the first: a, b, c and 38 more."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def milliseconds(seconds: float) -> str:
    """A latency: 4.27 ms, 1.2 s."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def microseconds(seconds: float) -> str:
    """CPU time of a transaction: 325 µs, 12.5 ms."""
    return f"{seconds * 1e6:,.0f} µs" if seconds < 0.01 else f"{seconds * 1e3:,.1f} ms"


def scale(total: float) -> tuple[str, Callable[[float], str]]:
    """The unit for costs of which the largest is `total` seconds, and how a cost is written in it."""
    unit, size = next(((u, s) for u, s in (("ms", 1e-3), ("µs", 1e-6)) if total >= 9 * s), ("ns", 1e-9))
    places = 1 if total / size >= 1000 else 2 if total / size >= 100 else 3
    return unit, lambda seconds: f"{seconds / size:,.{places}f}"


def signed(write: Callable[[float], str], seconds: float) -> str:
    """A difference of costs, with its sign."""
    return ("+" if seconds > 0 else "") + write(seconds)


def one_line(text: str) -> str:
    """A text without signs of control, and without a line's end, for a cell or an item."""
    return " ".join(visible(text).split("\n")) if not text.isprintable() else text


def inert(text: str) -> str:
    """A text for a table that a spreadsheet may open: with an apostrophe, which is not shown, before a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


NAME_WIDTH = 40
"""Characters of a function's name in the tables; longer names lose their middle."""


def short(name: str, width: int = NAME_WIDTH) -> str:
    """A name shortened to `width` characters: without its middle, as both ends say more."""
    if len(name) <= width:
        return name
    front = (width - 1) // 2
    return f"{name[:front]}…{name[len(name) - (width - 1 - front) :]}"


def change(ratio: float) -> str:
    """A ratio's change in per cent, with its sign and one decimal; never a negative zero."""
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f}"
