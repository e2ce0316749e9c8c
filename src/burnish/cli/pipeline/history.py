"""The verb that follows speeds over versions and dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from burnish.base import paths
from burnish.base.errors import UserError, unknown
from burnish.base.files import check_folder, write_out
from burnish.catalogue import load
from burnish.cli import completion, readers
from burnish.cli import options as o
from burnish.cli.common import print_document, print_json, say, verb
from burnish.cli.declaration import Argument, Option
from burnish.cli.results import result_of
from burnish.record.lines import is_file_name
from burnish.report.answer import history as report
from burnish.report.answer.points import points
from burnish.report.committed import result_of_file
from burnish.report.render.otava import otava
from burnish.report.result import Result
from burnish.study.kept import runs as studies

ONLY = Option(
    "only", ("--only",), "Only these variants or programs.", readers.names, "NAME,...", many=True, unset="all",
    common=True, panel="Output", complete=completion.several(completion.variants),
)  # fmt: skip
CSV = Option(
    "csv", ("--csv",), "Write the points to a CSV file, with the columns that Apache Otava reads.",
    readers.path, "FILE", common=True, panel="Output",
)  # fmt: skip


@verb(
    "history",
    Argument(
        "words", "ENGINE|PACKAGE|RECORD", "An engine, or the beginning of a package's name; exported records to add to "
        "the runs of this machine.",
        readers.verbatim, many=True, required=False, unset="all", complete=completion.one(completion.engines),
    ),
    o.HOSTS,
    ONLY,
    CSV,
    o.JSON,
    example="burnish history {engine} --only baseline --csv speeds.csv",
)  # fmt: skip
def history(
    words: tuple[str, ...], hosts: tuple[Path, ...], only: tuple[str, ...], csv: Path | None, as_json: bool
) -> None:
    """Follow an engine's speed over versions and dates.

    From the runs of this machine and the given records; a line for each run, a table for each variant and load.
    """
    files = list(dict.fromkeys([*(Path(word) for word in words if is_file_name(word)), *hosts]))
    names = [word for word in words if not is_file_name(word)]
    if len(names) > 1:
        raise UserError(f"{' '.join(names)}: name one engine or package; records are files such as speeds.jsonl.xz")
    if csv is not None:
        check_folder(csv)
    found = points(_results(files), names[0] if names else None)
    if names and not found and names[0] not in load.engines():
        raise unknown("engine or package", names[0], load.engine_names())
    if only:
        variants = {point.variant for point in found}
        if unmet := [name for name in only if name not in variants]:
            raise unknown("variant with speeds", unmet[0], variants)
        found = [point for point in found if point.variant in only]
    if csv is not None:
        write_out(csv, otava(found))
        say(f"{csv}: {len(found)} points of {len({point.series for point in found})} series")
        places = sorted({point.host for point in found})
        if len(places) > 1:
            say(f"{csv}: speeds of {len(places)} hosts ({'; '.join(places)}): what looks like a change may be the host")
    if as_json:
        print_json("history", [asdict(point) for point in found])
    elif csv is None:
        print_document(report.document(found))


def _results(files: list[Path]) -> Iterator[Result]:
    """Every run that is kept here, then the given records, each once; runs that never began are left out."""
    seen: set[tuple[str, str, bool]] = set()
    for folder in studies.folders(paths.home()):
        try:
            result = result_of(folder)
        except UserError as error:
            say(f"left out: {error}")
            continue
        seen.add(_whose(result))
        yield result
    # A record may be of a run that is kept here too: its figures count once.
    for result in map(result_of_file, files):
        if (whose := _whose(result)) not in seen:
            seen.add(whose)
            yield result


def _whose(result: Result) -> tuple[str, str, bool]:
    """What tells a run from others: when and where it began, and whether others were merged with it."""
    return result.begun, result.host, result.merged is not None
