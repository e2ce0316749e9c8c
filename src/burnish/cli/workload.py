"""The verb about loads: what there is to choose from, and statements made from a server's log."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from burnish.catalogue import load
from burnish.cli.common import AsJson, Yes, app, out, progress
from burnish.errors import UserError
from burnish.study import general_log, statements

workload = typer.Typer(no_args_is_help=True, help="List the loads; make one from a server's general log.")
app.add_typer(workload, name="workload")


@workload.command("list", epilog="Example: burnish workload list mariadb")
def list_loads(
    engine: Annotated[str | None, typer.Argument(help="Only this engine's.")] = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the loads of the catalogue: name, parameters, and why one would run each."""
    names = {load.engine(engine).name} if engine else {s.name for s in load.engines().values() if not s.hidden}
    every = [each for (owner, _), each in load.workloads().items() if owner in names]
    if as_json:
        values = [
            {
                "engine": each.engine,
                "workload": each.name,
                "reason": each.reason,
                "threads": each.threads,
                "design": each.design,
                "parameters": dict(each.parameters),
                "settings": dict(each.settings),
            }
            for each in every
        ]
        sys.stdout.write(json.dumps(values, indent=1) + "\n")
        return
    for each in every:
        words = ", ".join(f"{name.replace('_', '-')}={value}" for name, value in each.parameters)
        out.print(f"[bold]{each.name}[/bold] ({each.engine}, {each.threads} threads)")
        out.print(Padding(Text(each.reason), (0, 0, 0, 4)))
        out.print(Padding(Text("; ".join(filter(None, (words, _settings(each.settings)))), style="dim"), (0, 0, 0, 4)))


def _settings(settings: tuple[tuple[str, str], ...]) -> str:
    return "server: " + ", ".join(f"{name}={value}" for name, value in settings) if settings else ""


@workload.command("from-log", epilog="Example: burnish workload from-log general.log > mine.sql")
def from_log(
    file: Annotated[Path, typer.Argument(help="A general log (general_log = ON) of MariaDB or MySQL.")],
    most: Annotated[int, typer.Option(min=1, help="Different transactions to keep, the most frequent ones.")] = 100_000,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Turn a general log into statements with weights, to be replayed over your own data."""
    try:
        with file.open(errors="surrogateescape") as lines:
            found = general_log.read(lines, str(file), most=most)
    except OSError as error:
        raise UserError(f"{file}: cannot be read ({error.strerror}); name a general log") from None
    sys.stdout.write(f"-- From {file.name}. Weights are how often each transaction came.\n\n")
    sys.stdout.write(statements.as_text(found.units).encode(errors="surrogateescape").decode(errors="replace"))
    left = ", ".join(f"{count} {word}" for word, count in found.left_out.items())
    progress.print(
        f"{found.statements} statements, {len(found.units)} different transactions"
        + (f"; left out: {left}" if left else "")
        + (f"; {found.unfinished} transactions had no end" if found.unfinished else "")
        + (f"; databases: {', '.join(found.databases)}" if found.databases else ""),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
