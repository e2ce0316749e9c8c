"""What is made from the declarations and lies in the repository: JSON Schemas of files, the manual page.

Write it anew with ``python tests/support/generated.py`` (`tests/cli/test_generated.py` says when).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from burnish.cli import app
from burnish.cli.config import manual, schemas
from burnish.cli.config.keys import verbs_of
from burnish.report.render import json as renderer

MAN = Path(__file__).parents[2] / "docs" / "burnish.1"


def generated() -> Mapping[Path, str]:
    """The content of each file."""
    root = typer.main.get_command(app)
    made = {schemas.shipped(name): renderer.text(make()) for name, make in schemas.every(verbs_of(root)).items()}
    return {**made, MAN: manual.page(root)}


if __name__ == "__main__":
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
