"""Plain values (`--json`) as text; `burnish.report.values` decides what they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping


def text(values: object) -> str:
    """Values as JSON text; numbers that are not finite become null, other types that JSON lacks become strings."""
    return json.dumps(_finite(values), indent=1, default=str, allow_nan=False) + "\n"


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
