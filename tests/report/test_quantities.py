"""What was measured beside what a verdict is about: columns and keys follow the list of quantities."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_patch_report import study
from test_study_table import shipped

from burnish.bench.quantities import READERS
from burnish.model.quantity import BY_NAME, HEADLINES, LATENCY, MEMORY, QUANTITIES
from burnish.record.events.verdicts import Interval, VerdictReached
from burnish.report.answer import take
from burnish.report.fold import fold
from burnish.report.quantities import further
from burnish.report.result import Result
from burnish.report.values import runs
from drawn import markdown, printed
from reported import Events, bounded, comparison, ratio, verdict

LESS = Interval(1.25, 1.2, 1.3, 0.95)
"""Of a quantity of which less is better: the candidate has 20 % less."""


def judged(events: Events, **quantities: tuple[Interval | None, str]) -> Result:
    """The result, its last verdict with what these quantities say by themselves."""
    last = events.made[-1]
    assert isinstance(last.event, VerdictReached)
    ratios = {name: interval for name, (interval, _) in quantities.items()}
    verdicts = {name: word for name, (_, word) in quantities.items()}
    event = replace(last.event, ratios={**last.event.ratios, **ratios}, verdicts=verdicts)
    events.made[-1] = replace(last, event=event)
    return fold(events.made)


def one(candidate: str = "one") -> Events:
    events = Events("baseline", candidate).run().contest(f"{candidate} / w")
    return events.add("verdict", **verdict(f"{candidate} / w", "faster", ratio(1.2)))


def test_every_quantity_is_read_and_one_at_least_is_a_headline() -> None:
    assert READERS.keys() == BY_NAME.keys()
    assert HEADLINES


def test_each_quantity_with_a_verdict_of_its_own_is_a_column() -> None:
    """In per cent of the quantity itself: a ratio says how much better it is, and less memory is better."""
    same = Interval(1.001, 0.998, 1.004, 0.90)
    result = judged(one(), p95=(LESS, "faster"), rss=(same, "equivalent"))
    lines = markdown(result).splitlines()
    at = lines.index("## w, also measured: change in per cent to baseline")
    assert lines[at + 2 : at + 5] == [
        "| variant | p95 latency | memory |",
        "| --- | --- | --- |",
        "| one | -20.0 better [-23.1, -16.7] | -0.1 equivalent [-0.4, +0.2]* |",
    ]
    assert any("* the 90 % interval" in line for line in lines), "the star is explained"


@pytest.mark.parametrize(
    ("found", "words", "answer"),
    [
        (LESS, "1.250 [1.200, 1.300] times shorter p99 latency than baseline on w", "20 % shorter p99 latency"),
        (Interval(0.8, 0.75, 0.85, 0.95), "", "25 % longer p99 latency"),
    ],
)
def test_a_verdict_about_a_response_time_is_reported_as_one(found: Interval, words: str, answer: str) -> None:
    """A search's objective may be p99: no column had it, and the answer spoke of work per second."""
    kind = "faster" if found.ratio > 1.0 else "slower"
    events = one()
    last = events.made[-1]
    assert isinstance(last.event, VerdictReached)
    event = replace(last.event, headline="p99", verdict=kind, ratios={**last.event.ratios, "p99": found})
    events.made[-1] = replace(last, event=event)
    result = fold(events.made)
    said = markdown(result)
    assert "| variant | verdict | p99 latency | capacity | throughput | starts |" in said
    assert f"| one | {kind} | {found.ratio:.3f} [{found.low:.3f}, {found.high:.3f}] | 1.200 " in said
    assert "* p99 latency: above 1 it is shorter than the baseline's" in said
    assert words in said
    assert answer in "".join(take.sentences(result))
    assert not any(quantity.name == "p99" for quantity in further([result.rows[0].quantities]))


@pytest.mark.parametrize(
    ("measured", "shown"),
    [
        ((Interval(0.8, 0.75, 0.85, 0.95), "slower"), "+25.0 worse [+17.6, +33.3]"),
        ((bounded(1.0), "undecided"), "+0.0 undecided [-1.0, +1.0]"),
        ((None, "undecided"), "undecided"),
    ],
)
def test_what_is_worse_or_open_is_said(measured: tuple[Interval | None, str], shown: str) -> None:
    assert f"| one | {shown} |" in markdown(judged(one(), rss=measured))


def test_without_such_verdicts_there_is_no_table() -> None:
    """Of older records, and of cells without a verdict."""
    assert "also measured" not in markdown(fold(one().made))
    assert further([]) == ()


def test_a_quantity_more_is_a_column_more(monkeypatch: pytest.MonkeyPatch) -> None:
    energy = replace(MEMORY, name="energy", title="energy")
    monkeypatch.setitem(BY_NAME, "energy", energy)
    monkeypatch.setattr("burnish.report.quantities.QUANTITIES", (*QUANTITIES, energy))
    result = judged(one(), p95=(LESS, "faster"), rss=(LESS, "faster"), energy=(LESS, "faster"))
    assert "| variant | p95 latency | memory | energy |" in markdown(result)
    (row,) = runs.run(result)["rows"]
    assert row["energy"] == {"ratio": 1.25, "low": 1.2, "high": 1.3, "level": 0.95}
    assert row["verdicts"] == {"p95": "faster", "rss": "faster", "energy": "faster"}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_names_are_whole_and_no_column_is_left_out(width: int) -> None:
    name = "clang-pgo-thinlto-bolt"
    result = judged(one(name), p95=(LESS, "faster"), rss=(LESS, "faster"))
    lines = printed(result, width).splitlines()
    (head,) = (line for line in lines if line.startswith("variant") and "memory" in line)
    first, second = lines[lines.index(head) + 1 :][:2]
    assert max(map(len, (head, first, second))) <= width
    cells = ("-20.0 better", "[-23.1, -16.7]")
    if width < 80:
        assert first.split("  ")[0].split()[0] == name
        assert (first.count(cells[0]), second.count(cells[1])) == (2, 2), "intervals below, where room is short"
    else:
        assert first == f"{name} {' '.join(cells)} {' '.join(cells)}"


def test_json_has_each_quantity_by_its_name() -> None:
    (row,) = runs.run(judged(one(), p95=(LESS, "faster")))["rows"]
    assert [name for name in row if name in BY_NAME] == [quantity.name for quantity in QUANTITIES]
    assert row["capacity"] == row["throughput"] == ratio(1.2)
    assert row["p95"] == {"ratio": 1.25, "low": 1.2, "high": 1.3, "level": 0.95}
    assert row["rss"] is None
    assert row["verdicts"] == {"p95": "faster"}


def test_a_bundled_study_has_them_too() -> None:
    events = shipped(comparison("one"))
    events.add("verdict", **verdict("one / w", "faster", ratio(1.2)) | {"cell": "baseline: one / w"})
    result = judged(events, p95=(LESS, "faster"))
    assert "| row | p95 latency |" in markdown(result)
    (line,) = runs.run(result)["shipped"]["lines"]
    assert (line["p95"]["ratio"], line["verdicts"]) == (1.25, {"p95": "faster"})
    assert result.shipped is not None
    assert result.shipped.lines[0].quantities[LATENCY.name].interval == LESS


def test_a_series_of_patches_has_them_too() -> None:
    events = study({"a": []}, [("a", "alone", "a", ["a"])], {"a": ("faster", ratio(1.2))})
    assert "| patch | memory |\n| --- | --- |\n| a alone | -20.0 better [-23.1, -16.7] |" in markdown(
        judged(events, rss=(LESS, "faster"))
    )
