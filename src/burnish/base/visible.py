"""Text as it may be shown to a person: nothing in it controls a terminal, a page or the order of what is read."""

from __future__ import annotations


def visible(text: str) -> str:
    """A text without signs of control or of direction, which show nothing or change how others are shown."""
    if text.isprintable():  # nearly all are, and a page has some ten thousand
        return text
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else " " if sign.isspace() else "\ufffd" for sign in text
    )
