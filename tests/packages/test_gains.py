"""Whether a package's gain here is its study's, and which of a study's figures are the ones to quote."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.model.engine import Packaging
from burnish.packages import gains, planned
from burnish.packages.chosen import to_quote
from burnish.packages.deb import Deb
from burnish.report.fold import fold
from burnish.report.result import Result
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage
from burnish.study.request.options import Options
from burnish.study.trials.repeated import Sitting
from debfiles import deb
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


SERVICE = Packaging("", "", "core", "", "server", (), "", service="serving")

SUDO = "" if os.geteuid() == 0 else "sudo "

WORDS = "--no-install-recommends --allow-downgrades --no-remove"

INSTALL = f"{SUDO}apt-get install {WORDS} {shlex.quote(str(Path('core_1_amd64.deb').resolve()))}"


def made(version: str) -> Deb:
    base = BinaryPackage(Path("b.deb"), "core", version, "amd64", ("s", version), "")
    return Deb(Path("core_1_amd64.deb"), (), f"{version}+burnish1", base, "", "")


@pytest.mark.parametrize(("newer", "beside"), [([], False), (["2-1"], True)])
def test_a_newer_service_goes_back_with_the_program(
    newer: list[str], beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "versions", lambda _name: [*newer, "1-1"])
    monkeypatch.setattr(binary, "installed_of", lambda _source: {})
    text = "\n".join(planned.says_of(made("1-1"), SERVICE, planned.goes_with(made("1-1").base)))
    assert (f"install: {INSTALL} server=1-1\n" in text) == beside
    assert (f"install: {INSTALL}\n" in text) == (not beside)


def test_all_that_is_newer_here_goes_back_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"server": "2-1", "client": "2-1", "common": "1-1", "core": "2-1"}
    monkeypatch.setattr(binary, "installed_of", lambda source: there if source == "s" else {})
    monkeypatch.setattr(binary, "versions", lambda _name: ["2-1", "1-1"])
    along = planned.goes_with(made("1-1").base)
    assert along.words == ("client=1-1", "server=1-1")
    says = planned.says_of(made("1-1"), SERVICE, along)
    assert f"install: {INSTALL} client=1-1 server=1-1" in says
    assert not any("elsewhere" in line for line in says)


def test_the_way_back_is_a_file_where_apt_no_longer_lists_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "installed_of", lambda _source: {})
    for listed, back in ((["2-1", "1-1"], "core=1-1"), (["2-1"], str(Path("b.deb").absolute()))):
        monkeypatch.setattr(binary, "versions", lambda _name, listed=listed: listed)
        says = planned.says_of(made("1-1"), replace(SERVICE, server_package="core"), planned.Along())
        assert says[-2] == f"back: {SUDO}apt-get install --allow-downgrades {back}"


def test_what_is_left_to_do_is_said_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "versions", lambda _name: ["1-1"])
    for service, command in (("serving", f": {SUDO}systemctl restart serving"), ("", "")):
        says = planned.says_of(made("1-1"), replace(SERVICE, service=service), planned.Along())
        assert says[-1].endswith(f"stays the program before until it is restarted{command}")
    assert "restarted" not in "".join(planned.says_of(made("1-1"), SERVICE, None)), "an image has no such server"


def test_commands_say_sudo_where_they_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binary, "versions", lambda _name: ["1-1"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    install, back, restart = planned.says_of(made("1-1"), SERVICE, planned.Along())[-3:]
    assert install.startswith(f"install: sudo {INSTALL.removeprefix('sudo ')}")
    assert back.startswith("back: sudo apt-get ")
    assert restart.endswith(": sudo systemctl restart serving")


def test_what_apt_no_longer_lists_is_taken_from_the_folder_of_the_users_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "installed_of", lambda _source: {"server": "2-1", "client": "2-1"})
    monkeypatch.setattr(binary, "versions", lambda _name: ["2-1"])
    (tmp_path / "program").mkdir()
    (tmp_path / "program/p").touch()
    base, server = (
        binary.read(deb(tmp_path, tmp_path / "program/p", name=name, version="1-1", source="s"))
        for name in ("core", "server")
    )
    along = planned.goes_with(base)
    assert along == planned.Along((str(server.file),), ("client 1-1",))
    install = planned.says_of(replace(made("1-1"), base=base), SERVICE, along)[-3]
    assert install.startswith("install: client 1-1: needed beside it, and apt does not list this version; put ")
    request = planned.Request(planned.Format.DEB, tmp_path, base.file, verb="install")
    with pytest.raises(UserError, match=r"^install: client 1-1: needed .* with --base$"):
        planned._objections(base, SERVICE, request, along)
    assert planned._objections(base, SERVICE, replace(request, verb=""), along) == ()
    image = planned.Request(planned.Format.OCI, tmp_path, base.file)
    with pytest.raises(UserError, match=r"^--as oci: the image takes server 1-1 from apt, which does not list"):
        planned._objections(base, SERVICE, image, None)
    (said,) = planned._objections(base, SERVICE, replace(image, force=True), None)
    assert said.startswith("the image takes server 1-1 from apt")
