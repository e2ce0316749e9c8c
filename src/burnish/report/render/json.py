"""Plain values for machines (`--json`) as text; what they hold is said in `burnish.report.values`."""

from __future__ import annotations

import json


def text(values: object) -> str:
    """Values as they are printed; what JSON has no form for as its words."""
    return json.dumps(values, indent=1, default=str) + "\n"
