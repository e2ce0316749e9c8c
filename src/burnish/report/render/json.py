"""Plain values (`--json`) as text; `burnish.report.values` decides what they hold."""

from __future__ import annotations

import json


def text(values: object) -> str:
    """Values as JSON text; types that JSON does not have become strings."""
    return json.dumps(values, indent=1, default=str) + "\n"
