"""What servers say of themselves, compared."""

from __future__ import annotations

from burnish.bench.pairs import StartResult
from burnish.engines.reported import Reported, compared
from burnish.model.cell import CellId
from burnish.study.trials.readings import start_done

ONE = Reported(
    {"datadir": "/h/data0/", "basedir": "/h/one/", "pages": "16384", "cache": "1", "only": ""},
    work=1000,
    counted={"rows": 4000, "sorts": 0},
    places=("/h", "/h/data0", "/h/one"),
)
OTHER = Reported(
    {"datadir": "/h/data1/", "basedir": "/h/other/", "pages": "16384", "cache": "0"},
    work=2000,
    counted={"rows": 8000, "sorts": 1},
    places=("/h/data1", "/h/other"),
)


def test_settings_are_alike_but_for_a_sides_own_folders() -> None:
    alike, others = compared({"a": ONE, "b": OTHER})
    assert alike == 3
    assert others == {"cache": {"a": "1", "b": "0"}, "only": {"a": ""}}


def test_a_start_keeps_what_differs_and_the_counters_for_each_statement() -> None:
    def reported(**sides: Reported) -> object:
        return start_done(
            CellId("b", "w"), 1, StartResult({}, 1.0, True, (), "f", None, 1.0, reported=sides), None
        ).reported

    found = reported(a=ONE, b=OTHER)
    assert (found.alike, list(found.differ)) == (3, ["cache", "only"])  # type: ignore[attr-defined]
    assert found.per_statement == {  # type: ignore[attr-defined]
        "a": {"rows": 4.0, "sorts": 0.0},
        "b": {"rows": 4.0, "sorts": 0.0005},
    }
    assert reported(a=ONE, b=Reported()) is None, "a server that has died says nothing"
    assert reported(a=ONE) is None
    assert Reported({"a": "b"}).rates() == {}
