"""Durations for people."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds for people: 42 s, 3 min 05 s, 1 h 02 min."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60:02d} s"
    return f"{total // 3600} h {total % 3600 // 60:02d} min"
