"""Bundled studies on MySQL: what has no equivalent is told before anything is installed or built."""

from __future__ import annotations

import pytest

from burnish.base import system
from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.catalogue.bundled import files as studies
from burnish.report.sections.bundled.plan import document
from burnish.study import needs
from burnish.study.constructors.tune import tune_study
from burnish.study.planning.study_plan import plan_of
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked, by_name
from chains import GCC
from drawn import drawn
from shipping import expanded

SHIPPED = [name for name in studies.names() if name != "arm-2020"]  # its patches are tried on a tree


@pytest.mark.parametrize("row", ["dynamic-link", "32-vs-64", "debug-full-benchmarks"])
def test_what_mysql_has_not_is_a_reason_and_no_build(row: str) -> None:
    found = [one for one in expanded("mysql-manual", "mysql").comparisons if one.row == row]
    assert found
    for one in found:
        assert one.final
        assert str(one.reason).startswith("no equivalent today: ")


def test_for_programs_that_cannot_be_nothing_is_installed_and_one_line_says_so(burnish_home: object) -> None:
    study = expanded("sun-2008", "mysql")
    asked = Asked(series=("gcc-32",), rows=("unroll", "prefetch"))
    selection = by_name(study, asked)
    assert any(one.reason is None for one in selection.chosen)
    assert "word-32" not in needs.groups_of(study, selection, Options())
    assert "word-32" in needs.groups_of(expanded("sun-2008", "mariadb"), selection, Options())
    shown = " ".join(drawn(document(study, plan_of(home(), study, selection, Options()))).split())
    assert shown.count("there is no 32-bit MySQL server") == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_the_plan_of_each_study_fits_80_columns(name: str, burnish_home: object) -> None:
    study = expanded(name, "mysql")
    plan = plan_of(home(), study, by_name(study, Asked()), Options())
    shown = drawn(document(study, plan))
    assert "on MySQL server; published: " in shown
    assert "to measure, about" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_branch_hints_are_taken_from_the_build_that_the_articles_row_has() -> None:
    """Another training of its base would be a build more, of half an hour."""
    rows = {one.row: one for one in expanded("pgo", "mysql").comparisons if one.series == "gcc"}
    assert rows["pgo-hints-off"].base == rows["pgo"].candidate
    assert rows["pgo-hints-off"].candidate not in {rows["pgo"].candidate, rows["hints-off"].candidate}


def test_all_missing_packages_are_named_at_once_before_anything_is_built(
    burnish_home: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the build, the load and the tests, and those without which clang's variants and BOLT are left out."""
    monkeypatch.setattr(system, "missing_packages", list)
    monkeypatch.setattr(needs, "find_toolchains", lambda: [GCC])
    study = tune_study("mysql", Options())
    with pytest.raises(UserError) as raised:
        needs.install_for(study, by_name(study, Asked()), Options(), None)
    said = str(raised.value)
    assert "\n" not in said
    assert "building and loading MySQL server" in said
    assert "; the variants clang-pgo-thinlto, clang-pgo-thinlto-bolt also need: `" in said
    first, _, second = said.partition("; the variants ")
    commands = [
        part.partition("apt-get install --no-install-recommends ")[2].partition("`")[0] for part in (first, second)
    ]
    required, optional = (set(command.split()) for command in commands)
    assert required == set(needs.packages_of(study.engine.system_packages))
    assert {"libaio-dev", "libicu-dev", "libaio1", "sysbench", "libjson-perl"} <= required
    assert optional == set(needs.packages_of(["clang", "bolt"]))
    assert optional
