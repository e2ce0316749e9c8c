"""Every document that ``--json`` prints: its fields with their types, and the version of its form; pure.

The version of a document goes up when one of its fields goes, changes its type or changes its meaning, and with it
that of no other. New fields, and new words among those that a field may hold, leave it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.report.values.documents import catalogue, kept, runs
from burnish.report.values.documents.document import Document

DOCUMENTS: Mapping[str, Document] = {**runs.DOCUMENTS, **kept.DOCUMENTS, **catalogue.DOCUMENTS}
"""All documents by name."""


def form(name: str, values: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """The values of a document with the version of its form; of a list, in the field that has the document's name."""
    held = values if isinstance(values, Mapping) else {name: values}
    return {"schema": DOCUMENTS[name].version, **held}
