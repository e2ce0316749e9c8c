"""The verbs about records: export, import, merge, render."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import group, print_json, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import run_named
from burnish.record import exchange, lines
from burnish.record.events import Event, Recorded
from burnish.report import committed
from burnish.study.kept import runs as studies
from burnish.study.merge import merging

record = group(
    "record",
    "Export, import and merge records of runs.",
    example="burnish record export {engine}-tune --output tune.jsonl.xz",
)


@verb(
    "export", o.RUN, o.OUTPUT, o.WHOLE, o.JSON, of=record,
    example="burnish record export {engine}-tune-20261121 --output tune.jsonl.xz",
)  # fmt: skip
def export(run: str | None, output: Path | None, all_events: bool, as_json: bool) -> None:
    """Write a run's record to a file that renders the same report: pairs, plan, builds, verdicts; no logs.

    The file is packed as its name says (.jsonl.xz, .jsonl.gz, .jsonl); without --output it is RUN.jsonl.xz here.
    """
    if run is not None and lines.is_file_name(run):
        source = Path(run)
        events: Sequence[Recorded[Event]] = exchange.read_events(source)
        exchange.study_name(source, events)
    else:
        source = run_named(run)
        events = exchange.study_events(source)
    chosen = list(events if all_events else exchange.compact(events))
    name = lines.stem(source.name)
    target = output or Path(f"{name}{lines.USUAL}")
    if target.exists() and source.exists() and target.samefile(source):
        raise UserError(f"--output {target}: is the record itself; name another file")
    _wrote(target, chosen, f"{len(chosen)} of {len(events)} events", as_json)


@verb(
    "import", Argument("file", "FILE", "An exported record.", readers.path), o.JSON, of=record,
    example="burnish record import tune.jsonl.xz",
)  # fmt: skip
def import_record(file: Path, as_json: bool) -> None:
    """Add an exported record to the runs of this machine, read-only: it can be shown and merged, not resumed."""
    home = paths.home()
    committed.result_of_file(file)  # what can't be shown is not taken in
    with studies.lock(home):
        folder, made = exchange.import_study(home, file)
    if as_json:
        print_json("import", {"study": folder.name, "folder": str(folder), "made": made})
    else:
        say(f"run {folder.name}" + ("" if made else ": was here already, the same"))


@verb(
    "merge",
    Argument("files", "RECORD", "Exported records, or runs, of one plan.", readers.verbatim, many=True),
    o.HOSTS,
    replace(o.OUTPUT, required=True),
    o.JSON,
    of=record,
    example="burnish record merge monday.jsonl.xz other-host.jsonl.xz --output both.jsonl.xz",
)
def merge(files: tuple[str, ...], hosts: tuple[Path, ...], output: Path, as_json: bool) -> None:
    """Merge records of one plan, from several sessions or hosts; each host is a block that counts once."""
    records = []
    for name in (*files, *(str(path) for path in hosts if str(path) not in files)):
        if lines.is_file_name(name):
            records.append((name, exchange.read_events(Path(name))))
        else:
            records.append((name, exchange.study_events(run_named(name))))
    lines.check_name(output)
    done = merging.merge(records)
    places = f"{done.hosts} host{'s' if done.hosts > 1 else ''}"
    twice = f", {done.twice} of them given more than once" if done.twice else ""
    _wrote(output, done.events, f"{done.starts} starts on {places}{twice}", as_json)


@verb(
    "render",
    Argument("place", "FILE|DIR", "An exported record, or a folder of them.", readers.path),
    o.CHECK,
    o.JSON,
    of=record,
    hidden=True,
    example="burnish record render docs/results --check",
)
def render(place: Path, check: bool, as_json: bool) -> None:
    """Render reports beside their records, as Markdown and drawings; what people wrote around markers stays.

    A file NAME.md beside NAME.jsonl.xz is rendered whole, or between the markers `<!-- burnish: begin NAME -->` and
    `<!-- burnish: end -->`; `begin NAME verdicts` renders the tables of verdicts alone.
    """
    wanted = committed.expected(place)
    differences = committed.differences(wanted)
    if not check:
        for difference in differences:
            difference.path.write_text(wanted[difference.path], encoding="utf-8")
    if as_json:
        values = [{"file": str(difference.path), "line": difference.line} for difference in differences]
        print_json("render", {"files": len(wanted), "different": values})
    elif check:
        for difference in differences:
            say(difference.words)
    if check and differences:
        if not as_json:
            say(f"render again: burnish record render {place}")
        raise typer.Exit(1)
    if not as_json:
        say(
            f"{len(wanted)} files, {len(differences)} rendered anew"
            if not check
            else f"{len(wanted)} files as recorded"
        )


def _wrote(target: Path, events: Sequence[Recorded[Event]], what: str, as_json: bool) -> None:
    size = exchange.write(target, events)
    if as_json:
        print_json("export", {"file": str(target), "events": len(events), "bytes": size})
    else:
        say(f"{target}: {what}, {size:,} bytes")
