"""Committed results: renders the reports beside committed records and compares them with the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from burnish.base.errors import UserError, unknown
from burnish.record import lines
from burnish.record.events import Event, Recorded
from burnish.record.events.study import PictureDrawn
from burnish.record.exchange import read_events
from burnish.report.analysis import markers
from burnish.report.fold import fold
from burnish.report.result import Result


@dataclass(frozen=True)
class Difference:
    """The first difference between a file and what its record says.

    Attributes:
        path: the file.
        line: number of the first line that differs, from 1; 0 if the file does not exist.
        found: that line in the file, or None if the file ends before it.
        expected: that line as rendered from the record, or None.
    """

    path: Path
    line: int
    found: str | None
    expected: str | None

    @property
    def words(self) -> str:
        """The difference in one line."""
        if self.line == 0:
            return f"{self.path}: is not there"
        present, wanted = ("nothing" if text is None else repr(_short(text)) for text in (self.found, self.expected))
        return f"{self.path}: line {self.line}: found {present}, the record gives {wanted}"


@dataclass(frozen=True)
class Committed:
    """An exported record among the results.

    Attributes:
        path: the file.
        result: the result read from it.
        pictures: SVG drawings in the record, by name.
    """

    path: Path
    result: Result
    pictures: Mapping[str, str]


def result_of_file(path: Path) -> Result:
    """The result of an exported record.

    Raises:
        UserError: the file is not a record, or its events are not those of a study.
    """
    return result_of(path, read_events(path, turns=False))


def result_of(path: Path, events: tuple[Recorded[Event], ...]) -> Result:
    """The result of events read from a file; raises as `result_of_file` does."""
    try:
        return fold(events)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError) as error:
        raise UserError(f"{path}: its events are not those of a study ({type(error).__name__}: {error})") from None


def expected(place: Path) -> dict[Path, str]:
    """The expected text of the files beside a record, or beside all records of a folder, by path.

    A report without markers is rendered completely; in one with markers, only the parts between them. In a folder,
    every other Markdown file with markers is rendered too; each marker names the record to render.

    Raises:
        UserError: there are no records, a file is not a record, or a report was not rendered from its record.
    """
    if place.is_dir():
        records = {path for end in lines.SUFFIXES for path in place.glob(f"*{end}")}
        texts = sorted(path for path in place.glob("*.md") if markers.has_markers(path.read_text(encoding="utf-8")))
        chosen = _by_name(place, records)
        if not chosen:
            raise UserError(f"{place}: no exported record in this folder; `burnish record export RUN` makes one")
    else:
        lines.check_name(place)
        around = {path for end in lines.SUFFIXES for path in place.parent.glob(f"*{end}")} | {place}
        chosen, texts = {lines.stem(place.name): place}, []
        records = around if _report(place).is_file() else {place}
    load = cache(_read)
    wanted: dict[Path, str] = {}
    for path in chosen.values():
        record, report = load(path), _report(path)
        wanted[report] = _report_text(record, report, _named(place, records, load))
        for name, svg in record.pictures.items():
            wanted[report.with_name(f"{report.stem}-{name}")] = svg
    for path in texts:
        if path not in wanted:
            wanted[path] = markers.filled(path.read_text(encoding="utf-8"), str(path), _named(place, records, load))
    return wanted


def differences(wanted: Mapping[Path, str]) -> list[Difference]:
    """The files whose text is not as expected, each with its first line that differs."""
    differing = []
    for path, text in wanted.items():
        if not path.is_file():
            differing.append(Difference(path, 0, None, None))
            continue
        different = markers.first_difference(path.read_text(encoding="utf-8"), text)
        if different is not None:
            differing.append(Difference(path, *different))
    return differing


def _read(path: Path) -> Committed:
    events = read_events(path, turns=False)
    pictures = {
        recorded.event.name: recorded.event.svg for recorded in events if isinstance(recorded.event, PictureDrawn)
    }
    odd = next((name for name in pictures if Path(name).name != name or not name.endswith(".svg")), None)
    if odd is not None:
        raise UserError(f"{path}: carries a picture called {odd!r}, which is no name of one")
    return Committed(path, result_of(path, events), pictures)


def _by_name(place: Path, records: set[Path]) -> dict[str, Path]:
    """Records by name, without the suffix for format and compression."""
    named: dict[str, Path] = {}
    for path in sorted(records):
        other = named.setdefault(lines.stem(path.name), path)
        if other != path:
            raise UserError(f"{place}: {other.name} and {path.name} are two records of one name; remove one of them")
    return named


def _named(place: Path, records: set[Path], load: Callable[[Path], Committed]) -> Callable[[str, str], str]:
    """A function that renders a part of a record, given the two words of a marker: record name and part."""

    def rendered(name: str, part: str) -> str:
        known = _by_name(place, records)
        if name not in known:
            raise unknown(f"record beside {place}" if place.is_file() else f"record in {place}", name, known)
        return markers.PARTS[part](load(known[name]).result)

    return rendered


def _report_text(record: Committed, report: Path, named: Callable[[str, str], str]) -> str:
    """The expected text of a record's own report."""
    text = markers.PARTS[markers.USUAL_PART](record.result)
    if not report.is_file():
        return text
    present = report.read_text(encoding="utf-8")
    if markers.has_markers(present):
        return markers.filled(present, str(report), named)
    if present.strip() and present.split("\n", 1)[0] != text.split("\n", 1)[0]:
        marker = markers.begin(lines.stem(record.path.name))
        raise UserError(
            f"{report}: is not rendered from {record.path.name} and would be overwritten; put {marker} and "
            f"{markers.END} where the report is to stand"
        )
    return text


def _report(record: Path) -> Path:
    return record.with_name(f"{lines.stem(record.name)}.md")


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
