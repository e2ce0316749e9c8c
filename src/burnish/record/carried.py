"""A record as a page is made from it and carries it: read once, with no more of it in memory than reports show."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.record import exchange, lines
from burnish.record.codec import FORMAT
from burnish.record.events import Event, Recorded
from burnish.record.events.study import PictureDrawn
from burnish.record.events.trials import PairRead
from burnish.record.events.why import WhyExplained
from burnish.record.record import Record


@dataclass(frozen=True)
class Carried:
    """A record in a page.

    Attributes:
        events: its events; pairs are without their turns, which no report shows and which are nine tenths of a record.
        packed: the compact record as the content of a ``.jsonl.xz`` file; packed quicker than a file is, and larger.
            It is made in a thread of its own, while a report is made from the events.
    """

    events: tuple[Recorded[Event], ...]
    packed: Future[bytes]


_Read = tuple[Recorded[Event], int, bytes | None]
"""An event, the format in which it is written, and its line; None if it is not in the record's file."""


def carried(source: Path) -> Carried:
    """A run's folder, an exported record or a page as a page needs it.

    The events that a compact record has unchanged are carried as they were written.

    Raises:
        UserError: as `burnish.record.exchange.read_events` does.
    """
    compacted = exchange.Compacting()
    events, texts, newest = [], [], 1
    for recorded, form, text in _of_folder(source) if source.is_dir() else _of_file(source):
        kept = compacted(recorded)
        if kept is not None:
            as_written = text is not None and kept is recorded
            newest = max(newest, form if as_written else FORMAT)
            texts.append(text if text is not None and as_written else lines.text_of(exchange.line_of(kept)))
        events.append(_without_turns(recorded))
    packing = ThreadPoolExecutor(1)
    packed = packing.submit(lines.pack_texts, texts, newest, lines.USUAL, lines.QUICK)
    packing.shutdown(wait=False)
    return Carried(tuple(events), packed)


def _of_file(path: Path) -> Iterator[_Read]:
    for line, text in lines.each(path, turns=False):
        yield exchange.decoded(line, path), line.form, text


def _of_folder(folder: Path) -> Iterator[_Read]:
    named: list[Recorded[Event]] = []
    last: list[Recorded[Event]] = []
    with closing(Record(folder)) as record:
        for line, text in record.with_texts():
            last = [exchange.decoded(line, record.path)]
            named += [recorded for recorded in last if isinstance(recorded.event, PictureDrawn | WhyExplained)]
            yield last[0], line.form, text
    for drawn in exchange.drawings(folder, [*named, *last]):
        yield drawn, FORMAT, None


def _without_turns(recorded: Recorded[Event]) -> Recorded[Event]:
    event = recorded.event
    if not isinstance(event, PairRead) or not event.turns:  # those of older formats, which have them otherwise
        return recorded
    return Recorded(recorded.number, recorded.at, replace(event, turns={}))
