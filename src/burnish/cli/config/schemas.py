"""JSON Schemas of the files that people write: the shipped ones, and how they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.catalogue import schemas
from burnish.catalogue.edge import ROOT
from burnish.cli.config import model
from burnish.cli.config.keys import NAME, Verbs, keys

FOLDER = ROOT / "schemas"
"""Where the shipped ones are, for editors; `tests/support/generated.py` writes them."""

FILES: Mapping[str, str] = {
    "config": f"a settings file, {NAME}",
    "recipes": "a file of variants (--recipes)",
    "study-file": "the file of a bundled study",
}
"""What each is for."""


def config(verbs: Verbs) -> dict[str, Any]:
    """The schema of a settings file."""
    return schemas.finished(f"Settings of Burnish: {NAME}", model.schema(keys(verbs)))


def every(verbs: Verbs) -> Mapping[str, Callable[[], dict[str, Any]]]:
    """By name, what makes each schema."""
    return {"config": lambda: config(verbs), "recipes": schemas.recipes, "study-file": schemas.studies}


def shipped(name: str) -> Path:
    """The file of a shipped schema."""
    return FOLDER / f"{name}.schema.json"
