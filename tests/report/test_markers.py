"""Rendered parts of Markdown files: between markers, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.record import exchange
from burnish.report import committed
from burnish.report.analysis.markers import END, begin, filled, first_difference, has_markers
from burnish.report.fold import fold
from drawn import markdown
from pieces import Piece, whole

MADE = whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12]).made


def upper(name: str, part: str) -> str:
    return f"{name.upper()}\n{part}\n"


def written(folder: Path, name: str = "one.jsonl.xz", piece: Piece | None = None) -> Path:
    exchange.write(folder / name, piece.made if piece else MADE)
    return folder / name


def render(place: Path) -> list[str]:
    wanted = committed.expected(place)
    different = committed.differences(wanted)
    for each in different:
        each.path.write_text(wanted[each.path])
    return [each.path.name for each in different]


@pytest.mark.parametrize("end", ["", "\n"])
def test_what_is_between_markers_is_rendered_and_the_rest_stays(end: str) -> None:
    text = f"prose\n\n{begin('a')}\nold\nolder\n{END}\nmore prose\n{begin('b', 'verdicts')}\n{END}\nlast{end}"
    found = filled(text, "x.md", upper)
    assert found == (
        f"prose\n\n{begin('a')}\nA\nreport\n{END}\nmore prose\n{begin('b', 'verdicts')}\nB\nverdicts\n{END}\nlast{end}"
    )
    assert filled(found, "x.md", upper) == found
    assert has_markers(text)
    assert not has_markers("no <!-- burnish: begin a --> within a line")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{begin('a')}\n", f"x.md: the rendered part that begins in line 1 has no {END}"),
        (f"\n{END}\n", "x.md: line 2 ends a rendered part that has not begun"),
        (f"{begin('a')}\n{begin('b')}\n{END}\n", "x.md: line 2 begins a rendered part within that of line 1; end it"),
        (f"{begin('a', 'verdict')}\n{END}\n", "unknown part in x.md, line 1 'verdict' (did you mean 'verdicts'?)"),
    ],
)
def test_markers_that_are_wrong_are_named(text: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        filled(text, "x.md", upper)
    assert str(caught.value).startswith(says)


def test_the_first_line_that_differs() -> None:
    assert first_difference("a\nb\n", "a\nb\n") is None
    assert first_difference("a\nb\n", "a\nc\n") == (2, "b", "c")
    assert first_difference("a\n", "a\nb\n") == (2, "", "b")
    assert first_difference("a", "a\nb") == (2, None, "b")


def test_a_report_is_rendered_whole_beside_its_record(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert [each.words for each in committed.differences(committed.expected(path))] == [
        f"{tmp_path}/one.md: is not there"
    ]
    assert render(path) == ["one.md"]
    assert (tmp_path / "one.md").read_text() == markdown(fold(MADE))
    assert render(tmp_path) == []
    (tmp_path / "one.md").write_text((tmp_path / "one.md").read_text().replace("faster", "slower"))
    (different,) = committed.differences(committed.expected(tmp_path))
    assert "one.md: line " in different.words
    assert "slower" in different.words
    assert "the record gives '| one | faster" in different.words
    assert render(tmp_path) == ["one.md"]


def test_prose_around_markers_is_kept_in_any_file_of_the_folder(tmp_path: Path) -> None:
    written(tmp_path)
    own, other = tmp_path / "one.md", tmp_path / "README.md"
    own.write_text(f"# By hand\n{begin('one')}\n{END}\nAn explanation.\n")
    other.write_text(f"See:\n{begin('one', 'verdicts')}\nold\n{END}\n")
    assert set(render(tmp_path)) == {"one.md", "README.md"}
    assert own.read_text().startswith(f"# By hand\n{begin('one')}\n# fake: tune\n")
    assert own.read_text().endswith(f"{END}\nAn explanation.\n")
    assert "| one | faster |" in other.read_text()
    assert "## Builds" not in other.read_text()
    assert render(tmp_path) == []


def test_what_somebody_wrote_is_not_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "one.md").write_text("# My own words\n")
    with pytest.raises(
        UserError, match=r"one.md: is not rendered from one.jsonl.xz .* put <!-- burnish: begin one -->"
    ):
        committed.expected(path)


def test_names_that_are_not_there_or_twice(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "README.md").write_text(f"{begin('on')}\n{END}\n")
    with pytest.raises(UserError, match=r"unknown record in .* 'on' \(did you mean 'one'\?\)"):
        committed.expected(tmp_path)
    written(tmp_path, "one.jsonl")
    with pytest.raises(UserError, match=r"one.jsonl and one.jsonl.xz are two records of one name"):
        committed.expected(tmp_path)
    with pytest.raises(UserError, match=r"no exported record in this folder"):
        committed.expected(tmp_path / "burnish-home" if (tmp_path / "burnish-home").is_dir() else _empty(tmp_path))


def _empty(folder: Path) -> Path:
    place = folder / "empty"
    place.mkdir()
    return place


def test_drawings_are_written_beside_the_report(tmp_path: Path) -> None:
    piece = whole("fake-tune-1", "here", 1, [0.1, 0.11, 0.12]).add("picture", name="flame.svg", svg="<svg/>\n")
    written(tmp_path, piece=piece)
    assert set(render(tmp_path)) == {"one.md", "one-flame.svg"}
    assert (tmp_path / "one-flame.svg").read_text() == "<svg/>\n"
    written(tmp_path, piece=piece.add("picture", name="../x.svg", svg=""))
    with pytest.raises(UserError, match=r"a picture called '\.\./x\.svg'"):
        committed.expected(tmp_path)


def test_events_of_something_else_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"n":1,"at":"","kind":"contest","body":{"cells":3}}\n')
    with pytest.raises(UserError, match=r"one.jsonl: event 1: contest: not as Burnish wrote it in format 1 "):
        committed.result_of_file(path)
