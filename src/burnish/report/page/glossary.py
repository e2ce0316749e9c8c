"""The words of a page that its reader may not know."""

from __future__ import annotations

from burnish.catalogue import glossary
from burnish.report.document import Facts, Heading, Section, Span


def section() -> Section:
    """Each word with its meaning."""
    items = tuple((word, (Span(meaning),)) for word, meaning in glossary.words().items())
    return Section("glossary", (Heading("Words"), Facts(items)))
