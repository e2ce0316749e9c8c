"""The words that a page explains to its reader; docs/GLOSSARY.md has all of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def words() -> Mapping[str, str]:
    """Each word with its meaning, in the order of the page."""
    file = resources.files("burnish.catalogue") / "data" / "glossary.toml"
    found: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))
    return found
