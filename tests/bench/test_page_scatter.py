"""How a process's pages lie in physical memory, from a process table as the kernel would show it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.bench import page_scatter as module
from burnish.bench.page_scatter import PageScatter, page_scatter
from burnish.model.cell import CellId
from burnish.record.codec import decode, encode
from burnish.record.events.trials import PagesUsed, StartDone

PAGE = module._PAGE_BYTES
PRESENT = 1 << 63
TEXT, DATA, HEAP, RESERVED, VDSO = (number << 8 for number in (1, 2, 3, 4, 5))
"""First page of each mapping."""


def process(proc: Path, frames: dict[int, list[int]]) -> None:
    """Process 7, with the frames of each mapping's first pages; -1 is a page that is not in memory."""
    (proc / "7").mkdir(exist_ok=True)
    kinds = {
        TEXT: ("r-xp", "00001000 fe:00 99   /usr/sbin/mariadbd"),
        DATA: ("r--p", "00000000 fe:00 99   /usr/sbin/mariadbd"),
        HEAP: ("rw-p", "00000000 00:00 0    [heap]"),
        RESERVED: ("---p", "00000000 00:00 0 "),
        VDSO: ("r-xp", "00000000 00:00 0    [vdso]"),
    }
    (proc / "7/maps").write_text(
        "".join(f"{first * PAGE:x}-{(first + 64) * PAGE:x} {mode} {rest}\n" for first, (mode, rest) in kinds.items())
    )
    entries = np.zeros(VDSO + 64, dtype=np.uint64)
    for first, numbers in frames.items():
        for place, frame in enumerate(numbers):
            soft_dirty_and_exclusive = 3 << 55  # bits beside the frame's number
            entries[first + place] = 0 if frame < 0 else PRESENT | soft_dirty_and_exclusive | frame
    (proc / "7/pagemap").write_bytes(entries.tobytes())


@pytest.mark.parametrize("piece", [1 << 17, 5])
def test_lines_for_each_page_by_kind_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(module, "_PIECE", piece)
    process(
        tmp_path,
        {
            TEXT: list(range(8000, 8016)),  # in a row: two lines for sixteen pages
            DATA: [800, 1600, -1, 2400, 3200],  # each on a line of its own
            HEAP: [-1, 16, 17, 8, 4000],  # two of four share one
            RESERVED: [80_000],
            VDSO: [90_000],
        },
    )
    assert page_scatter(7, tmp_path) == PageScatter(text=2 / 16, heap=3 / 4, files=6 / 20)


def test_nothing_is_told_without_frame_numbers(tmp_path: Path) -> None:
    assert page_scatter(7, tmp_path) == PageScatter(), "it has ended"
    process(tmp_path, {TEXT: [0] * 16, HEAP: [0] * 9})  # as the kernel shows it to all but root
    assert page_scatter(7, tmp_path) == PageScatter()


def test_a_process_with_a_huge_address_space_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, {TEXT: [1, 2], HEAP: [3]})
    assert page_scatter(7, tmp_path).text is not None
    monkeypatch.setattr(module, "MOST", 3 * 64 - 1)
    assert page_scatter(7, tmp_path) == PageScatter()


def test_what_was_not_told_is_not_recorded_and_older_records_are_read() -> None:
    cell = CellId(candidate="other", workload="points")
    pages = {"base": PagesUsed(1, 2, 3), "other": PagesUsed(1, 2, 3, scatter_text=0.125, scatter_heap=0.5)}
    done = StartDone(cell=cell, start=1, invalid=None, settled=True, seconds=1.0, fingerprint="f", pages=pages)
    kind, body = encode(done)
    assert set(body["pages"]["base"]) == {"huge_text", "huge_heap", "huge_files", "nodes"}, "as in older records"
    assert set(body["pages"]["other"]) - set(body["pages"]["base"]) == {"scatter_text", "scatter_heap"}
    assert decode(kind, body) == done
