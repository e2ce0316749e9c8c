"""Percona's comparison: its cells and means from its rates, and rows in which nothing but the profile differs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.catalogue.bundled import published
from burnish.catalogue.bundled.published import Reference, figure
from burnish.study.bundled.expansion import expand
from burnish.study.request.selection import Asked, by_name
from shipping import expanded

NAME = "percona-2026"
POOLS = {"pool-32g": "32", "pool-12g": "12", "pool-2g": "2"}
STUDY = """title = "A study"
reason = "A study of a test, long enough to be a reason."
engine = "fake"
[loads.read]
reason = "The only load that there is for it."
on = { fake = "fake_mix" }
[row.one]
title = "one row"
reason = "A row of a test, long enough to be a reason."
loads = ["read"]
[means.all]
title = "the mean of all"
reason = "A mean of a test, long enough to be a reason."
stated = 1
"""


def test_both_means_are_computed_from_their_own_cells() -> None:
    second, first = studies.study(NAME).means
    assert (second.name, second.stated, second.cells) == ("second", 6.5, 24)
    assert round(second.arithmetic, 1) == 6.5, "as printed"
    assert (round(second.lowest, 1), round(second.highest, 1)) == (-3.1, 14.3), "as printed"
    assert (first.name, first.stated, first.cells) == ("first", 10.7, 24)
    assert (round(first.arithmetic, 1), round(first.geometric, 1)) == (11.1, 10.8)
    assert (round(first.lowest), round(first.highest)) == (-4, 31), "as printed"


def test_a_cell_is_the_mean_of_its_runs() -> None:
    rates = published.rates(NAME, "non_pgo")
    assert len(rates) == 24
    assert rates["32", 1] == pytest.approx((442.49 + 450.04) / 2), "of which there are two here"
    assert published.rates(NAME, "pgo", "1")["2", 4] == 588.89
    with pytest.raises(UserError, match=r"unknown run of percona-2026: pgo '4'"):
        published.rates(NAME, "pgo", "4")
    with pytest.raises(UserError, match="mysql-manual: it has no rates"):
        published.rates("mysql-manual", "tls")


@pytest.mark.parametrize(("pool", "threads", "words"), [("12", 128, "-3.1"), ("32", 1, "+14.3"), ("2", 64, "+0.5")])
def test_figures_by_pool_and_threads(pool: str, threads: int, words: str) -> None:
    found = figure(Reference(NAME, "pgo", "non_pgo", pool, pool), threads)
    assert found is not None
    assert found.words == words


def test_nothing_but_the_profile_differs() -> None:
    table = expand(studies.study(NAME), load.engine("mariadb"))
    claims: Counter[tuple[str, str]] = Counter()
    compiler = {"gcc": {}, "clang": {"toolchain": "clang", "link": "-fuse-ld=lld"}}
    for each in table.comparisons:
        assert each.published is not None
        claims[each.series, each.reading] += 1
        assert each.reason is None
        base, candidate = table.variants[each.base].recipe, table.variants[each.candidate].recipe
        assert base.changes() == compiler[each.series]
        assert candidate.changes().items() >= base.changes().items()
        assert set(candidate.changes()) - set(base.changes()) == {"pgo", "training"}
        assert (base.lto, candidate.lto) == ("none", "none")
        ((trained_on, _),) = candidate.training
        program = {"own": "oltp_read_write", "vendor": "own_tests"}[each.reading]
        assert load.training(load.engine("mariadb"), trained_on).program == program
        assert str(each.placement) == "whole"
    assert claims == {(series, reading): 24 for series in compiler for reading in ("own", "vendor")}, "every cell"


def test_each_pool_has_as_much_of_the_data_as_there() -> None:
    """100,000 of 5,000,000 rows, so a fiftieth of each pool."""
    for row in studies.study(NAME).rows_for("mariadb"):
        assert row.published is not None
        assert row.published.column == row.published.against_column == POOLS[row.name]
        (pool,) = (word for word in row.given if word.startswith("innodb_buffer_pool_size="))
        mebibytes = int(pool.partition("=")[2].removesuffix("M"))
        assert mebibytes == round(int(POOLS[row.name]) * 1024 / 50)


def test_the_worst_published_cell_is_in_the_first_delivery() -> None:
    chosen = by_name(expanded(NAME, "mariadb"), Asked()).chosen
    assert {each.threads for each in chosen} == {1, 16, 128}
    worst = min(chosen, key=lambda each: each.published.low if each.published and each.published.low else 0.0)
    assert (worst.row, worst.threads) == ("pool-12g", 128)
    assert worst.published is not None
    assert worst.published.words == "-3.1"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ('table = "percona-2026"\nline = "pgoo"\nagainst = "pgo"\n', "unknown line of percona-2026 'pgoo'"),
        ('table = "percona-2026"\nline = "pgo"\n', "against: field required"),
        ('table = "mysql-manual"\nline = "tls"\nagainst = "strip"\n', "it has no rates"),
    ],
)
def test_a_mean_of_nothing_is_refused(tmp_path: Path, keys: str, says: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(STUDY + keys)
    with pytest.raises(UserError, match=says) as raised:
        studies.read(path)
    assert "\n" not in str(raised.value)
