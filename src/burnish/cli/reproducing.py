"""The verb that hands a build over as a script."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
from burnish.cli.common import AsJson, Yes, app, out
from burnish.study import reproducing


@app.command(epilog="Example: burnish reproduce clang-pgo-thinlto --out /tmp/fast && /tmp/fast/build.sh")
def reproduce(
    build: Annotated[str, typer.Argument(help="A variant's name (its newest build), or a build's key.")],
    folder: Annotated[
        Path | None, typer.Option("--out", help="New folder for script, profile and patches; default: named so here.")
    ] = None,
    study: Annotated[str | None, typer.Option(help="The study that made it; default: the newest that did.")] = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Write a plain shell script that makes a build again, bit for bit, without Burnish; and its recipe."""
    home = paths.home()
    found = reproducing.find(home, build, study)
    made = reproducing.collect(home, found, folder or Path(f"reproduce-{found.variant or found.entry.key}"))
    if as_json:
        values = {
            "build": found.entry.key,
            "variant": found.variant,
            "folder": str(made.folder),
            "files": made.files,
            "sha256": made.sha256,
            "recipe": made.recipe,
        }
        sys.stdout.write(json.dumps(values, indent=1) + "\n")
        return
    shown = [name for name in made.files if "/" not in name]
    folders = sorted({f"{name.partition('/')[0]}/" for name in made.files if "/" in name})
    for line in (
        f"{made.folder}: {', '.join((*shown, *folders))}",
        f"{made.folder}/build.sh makes the program with SHA-256 {made.sha256}",
    ):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if made.recipe:
        out.print(f"\n{made.recipe.rstrip()}", markup=False, highlight=False, soft_wrap=True)
