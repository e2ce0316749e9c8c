"""The verb that writes a report as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

from burnish.base.errors import UserError, unknown
from burnish.base.files import check_folder, write_whole
from burnish.base.memory import lasting
from burnish.cli import completion, readers
from burnish.cli import options as o
from burnish.cli.common import print_json, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import called, run_named
from burnish.record.carried import carried
from burnish.record.exchange import is_study_name
from burnish.record.lines import is_file_name
from burnish.report import contents
from burnish.report.committed import result_of as result_in
from burnish.report.document import Figure
from burnish.report.page import contents as page_contents
from burnish.report.page.details import Details, details
from burnish.report.page.figures.beside import drawing
from burnish.report.render import json as as_json_text
from burnish.report.render.html import page
from burnish.report.render.markdown import markdown as as_markdown
from burnish.report.render.parquet import parquet
from burnish.report.result import Result
from burnish.report.values import rows as tables
from burnish.report.values import runs as run_values
from burnish.report.values.documents import form as form_of

FORMATS = {"html": (".html", ".htm"), "md": (".md",), "csv": (".csv",), "json": (".json",), "parquet": (".parquet",)}
"""Each format with the suffixes of its files; the first format is the usual one."""

_Read = tuple[Result, Details, Future[bytes]]
"""A run's result, its facts, and its record, packed; its events are not kept, which take most of the memory."""


@verb(
    "report",
    Argument("runs", "RUN", "Names of runs, exported records, or pages; several are shown side by side.",
             readers.verbatim, many=True, complete=completion.one(completion.runs)),
    o.OUTPUT,
    o.FORMAT,
    o.JSON,
    example="burnish report {engine}-tune-20261121 -o {engine}.html",
)  # fmt: skip
def report(runs: tuple[str, ...], output: Path | None, form: str | None, as_json: bool) -> None:
    """Write a report to send: one HTML file with its record in it.

    It needs no network and no other file; tables and figures are complete without scripts. `burnish show FILE.html`
    reads the record in it. Without --output it is RUN.html here.
    """
    with lasting():
        _report(runs, output, form, as_json)


def _report(runs: tuple[str, ...], output: Path | None, form: str | None, as_json: bool) -> None:
    if output is not None and output.is_dir():
        raise UserError(f"--output {output}: is a folder; name a file in it")
    chosen = _format(form, output)
    with drawing() if chosen == "html" else nullcontext() as draw:
        read = [_read(name) for name in runs]
        names = [result.name for result, _, _ in read]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise UserError(f"{twice}: is given twice; name each run once")
        for place, name in zip(runs, names, strict=True):
            if output is None and not is_study_name(name):
                raise UserError(
                    f"{place}: its study is called {name!r}, which is not a valid study name to call a file after; "
                    "name one with --output"
                )
        target = output or Path(f"{'-and-'.join(names[:2])}{FORMATS[chosen][0]}")
        if any(Path(name.partition("#")[0]).exists() and target.exists() and target.samefile(name.partition("#")[0])
               for name in runs if is_file_name(name)):  # fmt: skip
            raise UserError(f"--output {target}: is the record itself; name another file")
        try:
            data = _page(read, draw) if draw is not None else _made(chosen, read)
        except ArithmeticError as error:
            raise UserError(f"{', '.join(names)}: a figure in it is none that a measurement gives ({error})") from None
    _write(target, data)
    if as_json:
        print_json("report", {"file": str(target), "format": chosen, "runs": names, "bytes": len(data)})
    else:
        say(f"{target}: {', '.join(names)}, {len(data):,} bytes")


def _format(form: str | None, output: Path | None) -> str:
    """The format asked for, or that of the file's suffix."""
    if form is not None and form not in FORMATS:
        raise unknown("format", form, list(FORMATS))
    if output is None:
        return form or next(iter(FORMATS))
    found = next((name for name, ends in FORMATS.items() if output.name.lower().endswith(ends)), None)
    if form is not None:
        if found not in (None, form):
            raise UserError(f"--format {form}: {output} has the suffix of {found}; leave one of them out")
        return form
    if found is None:
        every = ", ".join(end for ends in FORMATS.values() for end in ends)
        raise UserError(f"--output {output}: its suffix is none of {every}; use one of these, or give --format")
    return found


def _read(name: str) -> _Read:
    path = Path(name) if is_file_name(name) else run_named(name)
    record = carried(path)
    return called(result_in(path, record.events), path), details(record.events), record.packed


def _page(read: Sequence[_Read], draw: Callable[[Sequence[Figure]], Iterator[str]]) -> bytes:
    document = page_contents.page([(result, facts) for result, facts, _ in read])
    records = ((result.name, packed.result()) for result, _, packed in read)
    return page(document, records, draw=draw).encode()


def _made(form: str, read: Sequence[_Read]) -> bytes:
    """The content of a file without figures."""
    results = [result for result, _, _ in read]
    if form == "md":
        return "\n".join(as_markdown(contents.document(result)) for result in results).encode()
    if form == "json":
        every = [run_values.run(result) for result in results]
        values_of = form_of("run", every[0]) if len(every) == 1 else form_of("reports", {"runs": every})
        return as_json_text.text(values_of).encode()
    found = [row for result, facts, _ in read for row in tables.rows(result, facts)]
    if form == "csv":
        return tables.as_csv(found).encode()
    return parquet(tables.COLUMNS, tables.by_column(found))


def _write(target: Path, data: bytes) -> None:
    """Writes the file at once, so that a page is there whole or not at all."""
    check_folder(target)
    write_whole(target, data)
