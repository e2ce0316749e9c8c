"""Durations as a person says them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds as a person says them: 42 s, 3 min 05 s, 1 h 02 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
