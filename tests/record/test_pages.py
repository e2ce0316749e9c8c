"""Records within pages: read as they were put in, and refused in one line where they can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.record import exchange, lines, pages
from pieces import packed, whole

ONE = whole("fake-tune-1", "one", 1, [0.1, 0.11, 0.12, 0.1]).made
OTHER = whole("fake-tune-2", "other", 2, [0.1, 0.14, 0.12]).made


def page(path: Path, *runs: tuple[str, bytes], version: int = pages.VERSION) -> Path:
    records = "\n".join(pages.element(name, data) for name, data in runs)
    path.write_text(f'<!DOCTYPE html><meta name="{pages.META}" content="{version}">\n{records}\n</body>\n</html>\n')
    return path


def wrong(path: Path | str) -> str:
    with pytest.raises(UserError) as error:
        exchange.read_events(Path(path))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_page_is_read_as_the_record_in_it(tmp_path: Path) -> None:
    small = tuple(exchange.compact(ONE))
    file = page(tmp_path / "a.html", ("fake-tune-1", packed(small)))
    assert exchange.read_events(file) == small
    assert lines.is_file_name(str(file))
    assert lines.stem("a.html") == "a"


def test_one_of_several_runs_is_named(tmp_path: Path) -> None:
    file = page(
        tmp_path / "both.HTM",
        ("fake-tune-1", packed(ONE)),
        ('<"two">', packed(OTHER)),
    )
    assert 'holds 2 runs (fake-tune-1, <"two">); name one' in wrong(file)
    assert exchange.read_events(Path(f'{file}#<"two">')) == tuple(OTHER)
    assert exchange.read_events(Path(f"{file}#fake-tune-1")) == tuple(ONE)
    assert lines.stem("both.htm#fake-tune-1") == "fake-tune-1"
    assert "holds no run 'x'" in wrong(f"{file}#x")


def test_what_is_no_whole_page_is_refused(tmp_path: Path) -> None:
    file = page(tmp_path / "a.html", ("fake-tune-1", packed(ONE)))
    text = file.read_text()
    for end in (text.index("<script") - 1, text.index("</script>") - 400, text.index("</script>") + 9):
        file.write_text(text[:end])
        assert "cut off" in wrong(file)
    begin = text.index("\n", text.index("<script")) + 40
    file.write_text(text[:begin] + ("A" if text[begin] != "A" else "B") + text[begin + 1 :])
    assert "damaged" in wrong(file)
    file.write_text("<html><p>Hello</p></html>")
    assert "not a page made by burnish" in wrong(file)
    assert "No such file" in wrong(tmp_path / "none.html")


def test_what_a_newer_burnish_made_is_refused(tmp_path: Path) -> None:
    newer = page(tmp_path / "a.html", ("fake-tune-1", packed(ONE)), version=pages.VERSION + 1)
    assert f"a page of version {pages.VERSION + 1}; this Burnish reads version {pages.VERSION}" in wrong(newer)
    line = lines.Line(1, "2030-01-01T00:00:00Z", "new", {}, 99)
    record = page(tmp_path / "b.html", ("r", lines.pack([line], lines.USUAL)))
    assert "a record in format 99" in wrong(record)


def test_records_are_not_written_as_pages(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name ends in"):
        exchange.write(tmp_path / "a.html", ONE)
