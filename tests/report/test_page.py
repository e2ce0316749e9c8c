"""The page: what is on it, that it needs nothing else, and that no text of a record becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.catalogue.glossary import words
from burnish.record import exchange, pages
from burnish.record.carried import carried
from burnish.record.events.trials import ServersReported, StartDone
from burnish.report.committed import result_of
from burnish.report.document import (
    Cell,
    Column,
    Document,
    Entry,
    Facts,
    Figure,
    Picture,
    Points,
    Row,
    Section,
    Span,
    Table,
)
from burnish.report.fold import fold
from burnish.report.page import answer, contents, matrices, servers
from burnish.report.page.contents import page
from burnish.report.page.details import details
from burnish.report.page.figures import shapes
from burnish.report.page.figures.shapes import Lines
from burnish.report.render import html
from pieces import packed, whole

RESULTS = Path(__file__).parents[2] / "docs/results"
HOSTILE = '<img src=x onerror="alert(1)">\'"&</script><script>alert(2)</script><!--]]>'


@cache
def rendered(*names: str) -> str:
    read = [carried(RESULTS / f"{name}.jsonl.xz") for name in names]
    document = page([(fold(record.events), details(record.events)) for record in read])
    return html.page(document, [(name, record.packed.result()) for name, record in zip(names, read, strict=True)])


class Seen(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def sections(text: str) -> list[str]:
    return re.findall(r'<section id="([^"]+)">', text)


def test_the_first_screen_says_what_to_take_and_how_sure() -> None:
    text = rendered("mariadb-tune-apart")
    first = text[text.index('<section id="answer">') : text.index("</section>")]
    more = "Take clang-pgo-thinlto: 24 % more work per second of server CPU on oltp_point_select, 20 %"
    assert more in first.replace("\N{NO-BREAK SPACE}%", " %"), "no line begins with a per cent sign"
    for name in ("Take", "Compared with", "On", "How sure", "What it costs", "Checked", "Make it again"):
        assert f"<dt>{name}</dt>" in first
    assert "in another sitting, [" in first, "both intervals"
    assert "in this one; 8 starts" in first
    assert "compile 16 min 28 s → 19 min 10 s of CPU" in first
    assert re.search(r"burnish reproduce clang-pgo-thinlto --run mariadb-tune-\d{8}-\d{6}", first), "of this run"


def test_a_section_is_there_where_the_record_has_its_data() -> None:
    tune = sections(rendered("mariadb-tune-apart"))
    assert tune[:4] == ["answer", "forest", "steps", "loads"]
    assert {"verdicts", "builds", "sizes", "ceiling", "sides", "gate", "flags", "host", "digests", "glossary"} <= set(
        tune
    )
    assert not {"training", "published", "pictures", "threads"} & set(tune)
    study = sections(rendered("mariadb-pgo"))
    assert {"training", "published", "gate", "host"} <= set(study)
    assert not {"steps", "loads"} & set(study)
    assert len(set(study)) == len(study), "a name of its own for each"


def test_how_far_a_figure_is_sure_is_the_same_everywhere() -> None:
    text = rendered("mariadb-tune-apart")
    loads = text[text.index('<section id="loads">') :]
    assert "+29.8 ±3.6" in loads, "per cent of the baseline, as in the terminal and in the forest plot"


def test_a_build_has_the_flags_that_it_was_given() -> None:
    text = rendered("mariadb-tune-apart")
    made = text[text.index('<section id="flags">') :]
    assert "<div>flags for C and C++: -O2 -g " in made
    assert "<div>flags for linking: -Wl,-z,relro -Wl,-z,now</div>" in made
    assert re.search(r"<dt>SHA-256 of clang-pgo-thinlto&#x27;s program</dt><dd>.*?[0-9a-f]{64}<", made)


def test_both_servers_are_compared_as_they_ran() -> None:
    made = whole("s", "h", 1, [0.1, 0.11, 0.12]).made
    ((number, start), *_) = ((n, r) for n, r in enumerate(made) if isinstance(r.event, StartDone))
    reported = ServersReported(
        600, {"cache": {"one": "", "baseline": "1"}}, {"one": {"rows": 4.4}, "baseline": {"rows": 4.0, "sorts": 0.0}}
    )
    made[number] = replace(start, event=replace(start.event, reported=reported))
    (shown,) = servers.sections(fold(made), details(made))
    text = html.page(Document("t", (shown,)))
    assert "600 are the same on both" in text
    assert "differs: cache: 1 on baseline, (empty) on one (one on w)" in text
    assert "rows for each statement differs: 4 and 4.4 (one on w)" in text
    assert servers.sections(fold(made[:number]), details(made[:number])) == [], "older records have nothing of it"


def test_a_bundled_study_begins_with_what_it_recommends() -> None:
    assert '<p class="strong">gcc: take fbo+points-to, tied with 4 others.' in rendered("mariadb-sun-2008")


def first_screen(name: str) -> str:
    events = exchange.read_events(RESULTS / f"{name}.jsonl.xz")
    return html.page(Document("t", (answer.section(fold(events), details(events)),)))


def test_where_nothing_is_taken_the_first_screen_says_why_and_how_sure() -> None:
    first = first_screen("mariadb-tls-interleaved")
    assert "Keep mariadbd: transport=tls is slower, 16\N{NO-BREAK SPACE}% fewer queries per second." in first
    assert "% in another sitting, [-19.4, -13.1] in this one; 6 starts" in first
    assert "p95" not in first, "where sides take turns, older records have the other's turn in it"
    solo = first_screen("mariadb-tls-solo-loud")
    assert "p95 0.938 ms → 1.4 ms on oltp_point_select (transport=tls)" in solo
    assert "oltp_read_only: use duet with 4 pairs; capacity to ±1" in first_screen("mariadb-calibrate")


def test_a_bundled_study_without_one_begins_with_its_claims() -> None:
    events = exchange.read_events(RESULTS / "mariadb-arm-2020-first.jsonl.xz")
    result, facts = fold(events), details(events)
    first = html.page(Document("t", (answer.section(result, facts),)))
    assert '<p class="strong">0 of 6 published claims still hold here' in first
    assert "crc32-hardware, checksum: +76.6 [+68.5, +85.1] % in another sitting, [+68.7, +85.0] in this one" in first, (
        "both intervals of what was claimed"
    )
    assert matrices.threads(result, facts, []) == [], "p95 over threads needs several numbers of them"


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_figure_that_no_measurement_gives_is_refused() -> None:
    path = RESULTS / "mariadb-tls-solo-loud.jsonl.xz"
    huge = {"capacity": 1e308, "throughput": 1e308}
    changed = tuple(
        replace(read, event=replace(read.event, readings=huge))
        if isinstance(read.event, StartDone) and read.event.readings
        else read
        for read in exchange.read_events(path)
    )
    with pytest.raises(UserError, match="its events are not those of a study"):
        result_of(path, changed)


def test_the_page_needs_nothing_else_and_carries_its_record(tmp_path: Path) -> None:
    text = rendered("mariadb-tune-apart")
    seen = Seen(text)
    for tag, name, value in seen.attributes:
        if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
            assert value.startswith("#"), (tag, name, value)
    assert "url(" not in re.sub(r"url\(#", "", text)
    assert "default-src 'none'" in text
    (tmp_path / "a.html").write_text(text)
    read = exchange.read_events(tmp_path / "a.html")
    assert read == exchange.read_events(RESULTS / "mariadb-tune-apart.jsonl.xz")


def test_the_largest_committed_record_fits_into_six_megabytes() -> None:
    assert len(rendered("mariadb-sun-2008").encode()) < 6e6


def test_several_runs_are_side_by_side_and_over_time() -> None:
    text = rendered("mariadb-tune-cold", "mariadb-tune-apart")
    names = sections(text)
    assert names[:4] == ["answer", "side-by-side", "forest", "history"]
    assert {"A-forest", "B-forest", "A-builds", "B-builds"} <= set(names)
    assert text.count(f'type="{pages.TYPE}"') == 2
    contents = text[text.index("<nav") : text.index("</nav>")]
    assert re.findall('href="#([^"]+)"', contents) == [
        "side-by-side",
        "forest",
        "history",
        "run-A",
        "run-B",
        "glossary",
    ]


def test_names_in_a_record_never_become_markup() -> None:
    events = whole(HOSTILE, HOSTILE, 1, [0.1, 0.11, 0.12, 0.1]).made
    result = fold(events)
    text = html.page(page([(result, details(events))]), [(result.name, packed(events))])
    seen = Seen(text)
    assert "img" not in seen.tags
    assert seen.tags.count("script") == 2, "the page's own, and the record"
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert any("alert(1)" in part for part in seen.texts), "it is shown as what it is"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60))
def test_no_text_becomes_markup(text: str) -> None:
    span = Span(text, marks=text)
    table = Table("verdicts", (Column(text),), (Row((Cell((span, span)),)),))
    blocks = (Points((span,)), table, Entry(text, text, (text,), (text,)), Facts(((text, (span,)),)))
    plain, shown = (
        Seen(html.page(Document(title, (Section("s", parts),)), [(title, b"x")]))
        for title, parts in ((text, blocks), ("a", _plain(blocks)))
    )
    assert plain.tags == shown.tags


def _plain(_: object) -> tuple[Points, Table, Entry, Facts]:
    span = Span("a", marks="a")
    table = Table("verdicts", (Column("a"),), (Row((Cell((span, span)),)),))
    return Points((span,)), table, Entry("a", "a", ("a",), ("a",)), Facts((("a", (span,)),))


def test_a_drawing_of_unknown_content_is_a_picture() -> None:
    document = Document("t", (Section("s", (Picture("p", "<svg><script>alert(1)</script></svg>"),)),))
    seen = Seen(html.page(document))
    assert seen.tags.count("script") == 1
    assert "svg" not in seen.tags
    (source,) = (value for tag, name, value in seen.attributes if tag == "img" and name == "src")
    assert source.startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize("name", ["mariadb-patch-crc32c", "mariadb-calibrate", "mariadb-compare-debian-other-host"])
def test_every_kind_of_run_has_a_page(name: str) -> None:
    assert {"answer", "heading", "host", "digests"} <= set(sections(rendered(name)))


def test_the_words_that_a_page_explains_are_in_the_glossary_too() -> None:
    glossary = (RESULTS.parent / "GLOSSARY.md").read_text()
    assert [word for word in words() if f"| **{word}** |" not in glossary] == []


def test_no_line_over_threads_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    events = exchange.read_events(RESULTS / "mariadb-sun-2008-whole.jsonl.xz")
    result, facts = fold(events), details(events)

    def lines() -> tuple[int, int]:
        found = [section for section in contents._whole(result, facts) if section.key == "threads"]
        drawings = [block.shape for one in found for block in one.blocks if isinstance(block, Figure)]
        return len(drawings), sum(len(shape.runs) for shape in drawings if isinstance(shape, Lines))

    figures, drawn = lines()
    assert drawn > 1
    monkeypatch.setattr(shapes, "LINES", 1)
    assert lines() == (drawn, drawn)
    assert figures < drawn
