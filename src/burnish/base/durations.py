"""Durations as people write and read them."""

from __future__ import annotations

import re

from burnish.base.errors import UserError


def duration(seconds: float) -> str:
    """Seconds for people: 42 s, 3 min 05 s, 1 h 02 min."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60:02d} s"
    return f"{total // 3600} h {total % 3600 // 60:02d} min"


def budget_text(seconds: float) -> str:
    """Seconds as `budget_of` reads them: 3h, 1h30m, 55s."""
    minutes, rest = divmod(round(seconds), 60)
    parts = ((minutes // 60, "h"), (minutes % 60, "m"), (rest, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"


def budget_of(text: str | None, option: str = "--budget") -> float | None:
    """Seconds of an option such as ``2h``, ``90m`` or ``1h30m``; a `UserError` otherwise."""
    if text is None:
        return None
    match = re.fullmatch(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+)s)?", text.replace(" ", ""))
    if not match or not any(match.groups()):
        raise UserError(f"{option} {text}: give hours and minutes, as in 2h, 90m or 1h30m")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds
