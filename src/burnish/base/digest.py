"""Digests of values: equal values have equal digests."""

from __future__ import annotations

import hashlib
import json


def digest_of(value: object, length: int = 16) -> str:
    """Hex SHA-256, shortened to `length`, of a value as JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
