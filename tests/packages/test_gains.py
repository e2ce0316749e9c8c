"""Whether a package's gain here is its study's, and which of a study's figures are the ones to quote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.packages import gains, planned
from burnish.packages.chosen import to_quote
from burnish.packages.deb import Deb
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage
from burnish.study.request.options import Options
from burnish.study.trials.repeated import Sitting
from reported import Events, bounded, ratio, verdict

APART: dict[str, Any] = {"design": "interleaved", "placement": "apart"}


def cell(load: str, value: float, role: str = "claim", **more: Any) -> dict[str, Any]:
    """A cell of a verdict's statement, known to ±1 %."""
    body = {"workload": load, "role": role, "design": "duet", "placement": "shared", "headline": "capacity"}
    return {**body, "ratios": {"capacity": ratio(value)}, **more}


def measured(value: float, **more: Any) -> Result:
    """The package against the distribution's program on the load w."""
    events = Events("distribution", "package").run()
    events.contest("package / w")
    events.add("verdict", **verdict("package / w", "faster", ratio(value)), **{"placement": "apart", **more})
    result = fold(events.add("finished").made)
    sitting = Sitting("faster", intervals={"capacity": bounded(value)})
    return replace(result, rows=tuple(replace(row, sitting=sitting) for row in result.rows))


def statement(*cells: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"baseline": "baseline", "verdicts": list(cells), **more}


@pytest.mark.parametrize(
    ("here", "outcome", "words"),
    [
        (1.30, "equal", "the study's gain, as far as these intervals tell"),
        (1.20, "smaller", "LESS than the study's gain"),
        (1.40, "larger", "more than the study's gain"),
    ],
)
def test_the_gain_here_is_held_against_the_studys(here: float, outcome: str, words: str) -> None:
    told = statement(cell("w", 1.30, **APART))
    (one,) = gains.held(told, measured(here))
    assert one.outcome == outcome
    assert one.of_study is not None
    assert one.of_study.ratio == pytest.approx(here / 1.30)
    # Each is known to ±1 %, so their quotient is to ±1.4 %.
    assert one.of_study.low == pytest.approx(here / 1.30 / 1.0142, rel=1e-3)
    assert words in one.sentences[1]
    assert "in this sitting" in one.sentences[0]
    assert "to be repeated" in one.sentences[0]
    said = "\n".join(gains.lines(told, "distribution", [one]))
    assert ("in all: the package gives here what its study found" in said) == (outcome == "equal")
    assert ("in all: LESS than its study found, on w" in said) == (outcome == "smaller")
    assert "the study compared with baseline, built from the source" in said
    assert "built from the source" not in "\n".join(gains.lines(told, "baseline", [one]))


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (statement(cell("v", 1.3, **APART)), "it has no figure of this load"),
        (statement(cell("w", 1.3)), "it was made with --placement shared, this one with apart"),
        (statement(cell("w", 1.3, **APART), conditions=["transport=tcp"]), "under other conditions"),
        (statement(cell("w", 1.3, headline="nothing", **APART)), "it has no figure of this load"),
        (statement(cell("w", 1.3, ratios={"capacity": ratio(1.3) | {"low": -1}}, **APART)), "it has no figure"),
        ({"verdicts": "none"}, "it has no figure of this load"),
    ],
)
def test_what_is_not_alike_is_not_compared(told: dict[str, Any], why: str) -> None:
    (one,) = gains.held(told, measured(1.3))
    assert one.outcome == "not compared"
    assert why in one.sentences[1]
    assert "in all" not in "\n".join(gains.lines(told, "distribution", [one]))


def test_it_is_measured_as_the_study_was_unless_otherwise_asked() -> None:
    again = [cell(load, 1.2, "confirmation", quoted=True, **APART) for load in ("v", "w")]
    told = statement(*(cell(load, 1.3, quoted=False) for load in ("v", "w")), *again, conditions=["transport=tcp"])
    options = gains.as_the_study(Options(), told)
    assert (options.workloads, options.design, options.placement) == (("v", "w"), "interleaved", "apart")
    assert options.settings == ("transport=tcp",)
    own = Options(workloads=("x",), design="duet")
    assert gains.as_the_study(own, told) == replace(own, settings=("transport=tcp",))


def test_packages_from_before_name_all_fresh_starts_or_none() -> None:
    """A part of the confirmations is not mixed with the verdicts by which the variant was picked."""
    claims = [cell("v", 1.3), cell("w", 1.4)]
    part = cell("w", 1.2, "confirmation", **APART)
    assert [one.ratio.ratio for one in gains.promised(statement(*claims, part))] == [1.3, 1.4]
    whole = [part, cell("v", 1.1, "confirmation", **APART)]
    assert [one.ratio.ratio for one in gains.promised(statement(*claims, *whole))] == [1.2, 1.1]


def run(*again: str) -> Result:
    events = Events("baseline", "fast").run()
    events.contest("fast / v", "fast / w")
    for load in ("v", "w"):
        events.add("verdict", **verdict(f"fast / {load}", "faster", ratio(1.34)))
    for load in again:
        events.add("verdict", **{**verdict(f"again: fast / {load}", "faster", ratio(1.27)), **APART})
    return fold(events.add("finished").made)


def test_a_package_quotes_fresh_starts_of_all_loads_or_of_none() -> None:
    def quoted(result: Result) -> list[float]:
        return [round(row.ratio.ratio, 2) for row in to_quote(result, "fast") if row.ratio]

    assert quoted(run()) == [1.34, 1.34]
    assert quoted(run("w")) == [1.34, 1.34]
    assert quoted(run("v", "w")) == [1.27, 1.27]


def made(version: str) -> Deb:
    base = BinaryPackage(Path("b.deb"), "core", version, "amd64", ("s", version), "")
    return Deb(Path("core_1_amd64.deb"), (), f"{version}+burnish1", base, "", "")


@pytest.mark.parametrize(("newer", "beside"), [([], False), (["2-1"], True)])
def test_a_newer_service_goes_back_with_the_program(
    newer: list[str], beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "versions", lambda _name: [*newer, "1-1"])
    monkeypatch.setattr(binary, "installed_of", lambda _source: {})
    text = "\n".join(planned.says_of(made("1-1"), "server"))
    assert ("install: apt-get install --allow-downgrades ./core_1_amd64.deb server=1-1" in text) == beside
    assert ("install: apt-get install ./core_1_amd64.deb\n" in text) == (not beside)


def test_all_that_is_newer_here_goes_back_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"server": "2-1", "client": "2-1", "common": "1-1", "core": "2-1"}
    monkeypatch.setattr(binary, "installed_of", lambda source: there if source == "s" else {})
    monkeypatch.setattr(binary, "versions", lambda _name: ["2-1", "1-1"])
    assert planned.goes_with(made("1-1")) == ("client=1-1", "server=1-1")
    says = planned.says_of(made("1-1"), "server")
    assert "install: apt-get install --allow-downgrades ./core_1_amd64.deb client=1-1 server=1-1" in says
    assert not any("elsewhere" in line for line in says)


def test_the_way_back_is_a_file_where_apt_no_longer_lists_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "installed_of", lambda _source: {})
    for listed, back in ((["2-1", "1-1"], "core=1-1"), (["2-1"], str(Path("b.deb").absolute()))):
        monkeypatch.setattr(binary, "versions", lambda _name, listed=listed: listed)
        assert planned.says_of(made("1-1"), "core")[-1] == f"back: apt-get install --allow-downgrades {back}"
