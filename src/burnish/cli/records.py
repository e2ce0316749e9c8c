"""The verbs about records: export, import, merge, render."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli.common import AsJson, app, progress
from burnish.record import exchange, lines
from burnish.record.events import Event, Recorded
from burnish.report import results
from burnish.study import studies
from burnish.study.merge import merging

record = typer.Typer(no_args_is_help=True, help="Records: export and import them, merge them, render what they say.")
app.add_typer(record, name="record", epilog="Example: burnish record render docs/results --check")

To = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The file, packed as its name says: .jsonl.xz, .jsonl.gz or .jsonl."),
]


@record.command(epilog="Example: burnish record export mariadb-tune-20261121 -o docs/results/mariadb-tune.jsonl.xz")
def export(
    study: Annotated[
        str | None, typer.Argument(help="A study's name, its folder, or an exported record; default: the newest.")
    ] = None,
    output: To = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Everything, with the programs that were run; a report needs less.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a study's record to a file that renders the same report: pairs, plan, builds, verdicts; no logs."""
    if study is not None and lines.is_file_name(study):
        source = Path(study)
        events: Sequence[Recorded[Event]] = exchange.read_events(source)
        exchange.study_name(source, events)
    else:
        source = studies.find(paths.home(), study)
        events = exchange.study_events(source)
    chosen = list(events if whole else exchange.compact(events))
    name = lines.stem(source.name)
    target = output or Path(f"{name}{lines.USUAL}")
    if target.exists() and source.exists() and target.samefile(source):
        raise UserError(f"--output {target}: is the record itself; name another file")
    _wrote(target, chosen, f"{len(chosen)} of {len(events)} events", as_json)


@record.command("import", epilog="Example: burnish record import docs/results/mariadb-tune.jsonl.xz")
def import_record(
    file: Annotated[Path, typer.Argument(help="An exported record.")],
    as_json: AsJson = False,
) -> None:
    """Make a study of an exported record: shown and merged like any other, but not gone on with."""
    home = paths.home()
    results.summary_of_file(file)  # what can't be shown is not taken in
    with studies.lock(home):
        folder, made = exchange.import_study(home, file)
    if as_json:
        sys.stdout.write(json.dumps({"study": folder.name, "folder": str(folder), "made": made}) + "\n")
    else:
        _say(f"study {folder.name}" + ("" if made else ": was here already, the same"))


@record.command(epilog="Example: burnish record merge monday.jsonl.xz other-host.jsonl.xz -o both.jsonl.xz")
def merge(
    files: Annotated[list[str], typer.Argument(metavar="RECORD...", help="Exported records or studies of one plan.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The merged record's file.")],
    as_json: AsJson = False,
) -> None:
    """Put records of one plan together, from several sittings or hosts; each host is a block that counts once."""
    lines.check_name(output)
    read = []
    for name in files:
        if lines.is_file_name(name):
            read.append((name, exchange.read_events(Path(name))))
        else:
            read.append((name, exchange.study_events(studies.find(paths.home(), name))))
    done = merging.merge(read)
    hosts = f"{done.hosts} host{'s' if done.hosts > 1 else ''}"
    twice = f", {done.twice} of them given more than once" if done.twice else ""
    _wrote(output, done.events, f"{done.starts} starts on {hosts}{twice}", as_json)


@record.command(epilog="Example: burnish record render docs/results --check")
def render(
    place: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="An exported record, or a folder of them.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 where a file is not what its record says.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Render reports beside their records, as Markdown and drawings; what people wrote around markers stays.

    A file NAME.md beside NAME.jsonl.xz is rendered whole, or between the markers `<!-- burnish: begin NAME -->` and
    `<!-- burnish: end -->`; `begin NAME verdicts` renders the tables of verdicts alone.
    """
    wanted = results.expected(place)
    different = results.differences(wanted)
    if not check:
        for each in different:
            each.path.write_text(wanted[each.path], encoding="utf-8")
    if as_json:
        values = [{"file": str(each.path), "line": each.line} for each in different]
        sys.stdout.write(json.dumps({"files": len(wanted), "different": values}, indent=1) + "\n")
    elif check:
        for each in different:
            _say(each.words)
    if check and different:
        if not as_json:
            _say(f"render again: burnish record render {place}")
        sys.exit(1)
    if not as_json:
        _say(
            f"{len(wanted)} files, {len(different)} rendered anew" if not check else f"{len(wanted)} files as recorded"
        )


def _wrote(target: Path, events: Sequence[Recorded[Event]], what: str, as_json: bool) -> None:
    size = exchange.write(target, events)
    if as_json:
        sys.stdout.write(json.dumps({"file": str(target), "events": len(events), "bytes": size}) + "\n")
    else:
        _say(f"{target}: {what}, {size:,} bytes")


def _say(text: str) -> None:
    progress.print(text, markup=False, highlight=False, soft_wrap=True)
