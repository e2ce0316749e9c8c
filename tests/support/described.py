"""Documents that --json prints, compared with their schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from burnish.cli.pipeline.schemas import SCHEMAS

OPEN = {"builds", "options", "doctor"}
"""Documents with further fields than those described."""


def closed(part: Any) -> Any:
    """The schema without room for fields that it does not describe."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    shut = {"additionalProperties": False} if "properties" in part else {}
    return {**{name: closed(item) for name, item in part.items()}, **shut}


def wrong(name: str, document: Any) -> list[str]:
    """Where a document does not match its schema, or has a field that is not described."""
    made = json.loads(json.dumps(SCHEMAS[name].schema()))
    checked = Draft202012Validator(made if name in OPEN else closed(made))
    return [f"{error.json_path}: {error.message[:200]}" for error in checked.iter_errors(document)]
