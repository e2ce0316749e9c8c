"""What a server lacks or does otherwise, and what is refused for it: pure."""

from __future__ import annotations

import pytest

from burnish.base.errors import UserError
from burnish.engines.packaged import PluginTrial
from burnish.model.engine import Packaging
from burnish.packages import comparing, differences, planned
from burnish.packages.differences import Weight
from burnish.program.built import LINKED, THROUGH

PACKAGING = Packaging("why", "x:Y", "p-core", "usr/sbin/p", "p", (), "usr/lib/p", describing=frozenset({"version"}))


def lost(found: list[differences.Difference]) -> list[str]:
    return [one.name for one in found if one.weight is Weight.LOSS]


def test_a_missing_ability_is_a_loss_and_an_added_one_is_told() -> None:
    theirs = {"setting": {"a": "1", "version": "x", "gone": ""}, "plugin": {"one": "ACTIVE", "two": "ACTIVE"}}
    ours = {"setting": {"a": "2", "version": "y", "new": ""}, "plugin": {"one": "DISABLED", "three": "ACTIVE"}}
    found = differences.of_accounts(theirs, ours, PACKAGING)
    assert lost(found) == ["a", "gone", "one", "two"]
    assert {one.name for one in found} == {"a", "gone", "one", "two", "version", "new", "three"}
    assert "setting a is 2, was 1" in [one.what for one in found]
    assert differences.of_accounts(theirs, theirs, PACKAGING) == []


def test_a_kind_that_is_not_answered_at_all_is_lost_name_by_name() -> None:
    assert lost(differences.of_accounts({"character set": {"utf8mb4": ""}}, {}, PACKAGING)) == ["utf8mb4"]


def test_libraries() -> None:
    found = differences.of_libraries(
        {"libssl.so.3": LINKED, "libsystemd.so.0": LINKED, "libcap.so.2": THROUGH},
        {"libssl.so.3": LINKED, "libq.so": LINKED},
    )
    assert [(one.name, one.weight) for one in found] == [("libsystemd.so.0", Weight.LOSS), ("libq.so", Weight.NOTED)]


def test_the_compilers_libraries_may_be_part_of_the_program() -> None:
    theirs = {"libstdc++.so.6": LINKED, "libssl.so.3": LINKED}
    link = ("-Wl,-z,now", "-static-libgcc", "-static-libstdc++")
    one, other = differences.of_libraries(theirs, {}, link)
    assert (one.what, one.weight) == ("library libssl.so.3 is not linked", Weight.LOSS)
    assert (other.what, other.weight) == ("library libstdc++.so.6 is part of the program", Weight.NOTED)
    assert lost(differences.of_libraries(theirs, {})) == ["libssl.so.3", "libstdc++.so.6"], "not by its flags"


def test_a_library_that_is_loaded_either_way_is_neither_lost_nor_added() -> None:
    direct = {"libicuuc.so.72": LINKED, "libicudata.so.72": LINKED}
    through = {"libicuuc.so.72": LINKED, "libicudata.so.72": THROUGH}
    assert differences.of_libraries(direct, through) == differences.of_libraries(through, direct) == []


def test_symbols_matter_where_a_plugin_needs_them() -> None:
    theirs, ours = frozenset({"a", "b", "c"}), frozenset({"a"})
    found = differences.of_exports(theirs, ours, {"ha_s3": frozenset({"a", "b", "puts"}), "other": frozenset({"a"})})
    assert lost(found) == ["ha_s3"]
    assert found[0].what == "plugin ha_s3 needs symbols that are gone: b"
    assert found[1].what.startswith("1 of 3 exported symbols are gone")
    assert differences.of_exports(theirs, theirs, {"x": frozenset({"a"})}) == []


@pytest.mark.parametrize(
    ("theirs", "ours", "weight"),
    [
        (PluginTrial(True, ("x: ACTIVE",)), PluginTrial(True, ("x: ACTIVE",)), None),
        (PluginTrial(True, ("x: ACTIVE",)), PluginTrial(False, ("undefined symbol",)), Weight.LOSS),
        (PluginTrial(True, ("x: ACTIVE", "[(7,)]")), PluginTrial(True, ("x: ACTIVE", "[(8,)]")), Weight.LOSS),
        (PluginTrial(True, ("x: ACTIVE",)), None, Weight.LOSS),
        (PluginTrial(False, ("no such library",)), PluginTrial(False, ("no such library",)), Weight.NOTED),
        (PluginTrial(False, ("no such library",)), PluginTrial(False, ("undefined symbol",)), Weight.LOSS),
    ],
)
def test_plugins_are_treated_alike_or_it_is_a_loss(
    theirs: PluginTrial, ours: PluginTrial | None, weight: Weight | None
) -> None:
    found = differences.of_plugins({"x": theirs}, {} if ours is None else {"x": ours})
    assert [one.weight for one in found] == ([] if weight is None else [weight])


def test_what_is_lost_is_refused_by_name_unless_accepted_or_forced() -> None:
    found = differences.of_accounts({"plugin": {"one": "", "two": ""}}, {"plugin": {}}, PACKAGING)
    with pytest.raises(UserError, match="plugin one is missing; plugin two is missing; say --accept one,two"):
        planned.refuse(found, force=False)
    planned.refuse(found, force=True)
    some, unknown = differences.accepting(found, ["one", "never"])
    assert unknown == ["never"]
    with pytest.raises(UserError, match="say --accept two"):
        planned.refuse(some, force=False)
    every, _ = differences.accepting(found, ["one", "two"])
    planned.refuse(every, force=False)


def test_paths_that_are_compiled_in_are_set_to_the_distributions() -> None:
    theirs = {"datadir": "/var/lib/p", "socket": "/run/p.sock", "port": "1"}
    ours = {"datadir": "/usr/local/p", "socket": "/run/p.sock", "port": "2"}
    assert comparing.located(theirs, ours, ("datadir", "socket", "not-there")) == {"datadir": "/var/lib/p"}
