"""Whether a published figure holds here, by the interval that was measured; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnish.report.bundled.table import Line

YES, SMALLER, LARGER, REVERSED, OPEN, ABSENT = "yes", "smaller", "larger", "reversed", "can't tell", "not here"

_RANGE = re.compile(r"(?P<low>[+-]?\d+(?:\.\d+)?)(?: to (?P<high>[+-]?\d+(?:\.\d+)?))?")


def holds(line: Line) -> str:
    """Whether the published change in per cent is what was measured; '' if there is nothing to compare.

    ``yes`` if the interval reaches the published range and shows the same direction; ``smaller`` or ``larger`` if it
    shows the direction but another size; ``reversed`` if it shows the opposite; ``not here`` if it excludes the
    published size without showing any difference; ``can't tell`` if it includes both that size and none.
    """
    published = _published(line)
    if published is None:
        return ""
    low, high = published
    none = low <= 0 <= high
    if line.identical:
        return YES if none else ABSENT
    if line.interval is None or line.verdict == "invalid":
        return ""
    here = [100.0 * (end - 1.0) for end in (line.interval.low, line.interval.high)]
    reaches = here[1] >= low and here[0] <= high
    open_here = here[0] <= 0 <= here[1]
    if reaches:
        return YES if none or not open_here else OPEN
    if open_here:
        return ABSENT
    if none:
        return LARGER
    if (here[0] > 0) != (low > 0):
        return REVERSED
    return LARGER if (here[0] > high) == (low > 0) else SMALLER


def _published(line: Line) -> tuple[float, float] | None:
    """The published change as (low, high) in per cent; None without one."""
    found = _RANGE.fullmatch(line.published) if line.published_unit == "%" else None
    if found is None:
        return None
    ends = (float(found["low"]), float(found["high"] or found["low"]))
    return min(ends), max(ends)


def sentence(lines: Iterable[Line]) -> str:
    """How many of the published figures hold; '' if none can be compared."""
    answers = [answer for line in lines if (answer := holds(line))]
    if not answers:
        return ""
    others = {word: answers.count(word) for word in (SMALLER, LARGER, REVERSED, ABSENT, OPEN) if word in answers}
    told = "".join(f", {count} {word}" for word, count in others.items())
    return f"{answers.count(YES)} of {len(answers)} published figures hold here{told}."
