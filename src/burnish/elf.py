"""What a program's file says of itself."""

from __future__ import annotations

from pathlib import Path

from burnish import process


def build_id(program: Path) -> str:
    """The GNU build id of a program, hexadecimal; '' when it has none."""
    text = process.capture(["readelf", "-n", program])
    return next((line.split()[-1] for line in text.splitlines() if "Build ID:" in line), "")
