"""The verb that prints the JSON Schemas of files."""

from __future__ import annotations

import sys

import typer

from burnish.base.errors import unknown
from burnish.cli import completion
from burnish.cli.common import app, line, verb
from burnish.cli.config import schemas
from burnish.cli.config.keys import verbs_of
from burnish.cli.declaration import Argument
from burnish.report.render import json as renderer


@verb(
    "schema",
    Argument("name", "NAME", f"Which one: {', '.join(schemas.FILES)}.", required=False, unset="lists them",
             complete=completion.one(lambda _context: schemas.FILES)),
    example="burnish schema recipes > recipes.schema.json",
)  # fmt: skip
def schema(name: str | None) -> None:
    """Print the JSON Schema of a file that you write, for an editor.

    The same files lie in the package; `burnish init` names the one for burnish.toml in its first line.
    """
    if name is None:
        for known, about in schemas.FILES.items():
            line(f"{known}: {about} ({schemas.shipped(known)})")
        return
    makers = schemas.every(verbs_of(typer.main.get_command(app)))
    if name not in makers:
        raise unknown("schema", name, makers)
    sys.stdout.write(renderer.text(makers[name]()))
