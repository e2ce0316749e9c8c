"""A document that ``--json`` prints: what it holds, and the version of its form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.report.values.schema import Many, Object, Schema, schema


@dataclass(frozen=True)
class Document:
    """What some verbs print with ``--json``.

    Attributes:
        verbs: these verbs.
        content: its fields.
        listed: whether it is a list of such objects, in a field that has the document's name.
        version: of its form.
    """

    verbs: str
    content: Object
    listed: bool = False
    version: int = 1

    def schema(self, name: str) -> Schema:
        """Its JSON Schema."""
        content = Object("", {name: (Many(self.content), "")}) if self.listed else self.content
        return schema(name, self.version, content)


Fields = Mapping[str, tuple[Any, str]]
"""By field, its type and what it is."""

Texts = tuple[str, ...]
Values = Mapping[str, Any]


def of(what: str, **fields: tuple[Any, str]) -> Object:
    """An object of these fields."""
    return Object(what, fields)
