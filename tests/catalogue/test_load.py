"""The catalogue: every entry has its reason and what it names is there; a wrong entry is one line."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base import system
from burnish.base.engine_folders import EngineFolder, engine_folders
from burnish.base.errors import UserError
from burnish.catalogue import engines, flags, load
from burnish.catalogue.edge import ROOT, read_toml
from burnish.catalogue.other_servers import other_servers
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Recipe
from burnish.model.workload import Design

FILES = sorted([*ROOT.rglob("*.toml"), *engines.SHARED.parent.rglob("*.toml")])


def entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of a catalogue file, by name: an engine's file is one entry with entries in it."""
    content = tomllib.loads(path.read_text())
    if path.name == "linking.toml":
        for kind in ("linkers", "allocators", "words"):
            yield from content[kind].items()
        yield "lto", content["lto"]
        yield from ((f"refused {value['when']}", value) for value in content["refused"])
        return
    if path.parent.name == "studies":
        yield path.stem, content
        for part in ("loads", "series", "readings", "builds", "row"):
            every = content.get(part, {}).items()
            # A row about a shipped patch has that patch's reason, which stands in the catalogue of patches.
            yield from ((f"{part}.{name}", value) for name, value in every if "patch" not in value)
        return
    if path.name != "engine.toml":
        for name, value in content.items():
            if isinstance(value, str):  # a word of the glossary is its own explanation
                yield name, {"reason": value}
            elif isinstance(value, list):
                named = ((f"{name}: {number}", entry) for number, entry in enumerate(value))
                yield from (pair for pair in named if isinstance(pair[1], dict))
            elif path.name == "deployment.toml" and name == "promises":
                # What any server promises has its reason in one place.
                usual = tomllib.loads((ROOT / path.name).read_text())[name]
                for promise, entry in value.items():
                    own = {"reason": entry} if isinstance(entry, str) else entry
                    yield promise, {"reason": usual.get(promise, "")} | own
            elif all(isinstance(entry, dict) for entry in value.values()):
                yield from value.items()
            else:
                yield name, value
        return
    yield path.parent.name, content
    for name, value in content["features"].items():
        yield f"features.{name}", value
    for value in content["training"]:
        yield f"training on {value['workload']}", value
    yield "costs", content["costs"]
    if "linking" in content:
        yield "linking", content["linking"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT.parents[1])))
def test_every_entry_has_a_reason_in_prose(path: Path) -> None:
    result = list(entries(path))
    assert result
    for name, value in result:
        reason = value.get("reason", "")
        assert len(reason) >= 15, f"{path.name}: {name}: why is it here?"
        assert " " in reason
        assert reason.rstrip().endswith((".", "!", "?")), f"{path.name}: {name}: whole sentences"


def test_all_of_it_loads() -> None:
    assert {"fake", "sqlite", "mariadb"} <= set(load.engines())
    assert {"baseline", "gcc-o3", "gcc-pgo", "clang-pgo-thinlto", "clang-pgo-thinlto-bolt"} <= set(load.variants())
    assert ("mariadb", "oltp_read_only") in load.workloads()


@pytest.mark.parametrize("spec", load.engines().values(), ids=lambda spec: spec.name)
def test_what_an_engine_names_is_there(spec: EngineSpec) -> None:
    assert spec.ladder[0] == "baseline"
    for name in spec.ladder:
        assert load.variant(name).name == name
        assert not load.variant(name).weakens_security, "not by default"
    for name in (*spec.workloads, *(name for name, _ in spec.training)):
        assert load.workload(spec, name).engine == spec.name
    assert spec.default_features in spec.features
    assert spec.covered
    assert spec.gate_tests
    assert set(spec.system_packages) <= set(system.groups())


def test_every_workload_has_its_engine() -> None:
    for (engine, name), value in load.workloads().items():
        assert engine in load.engines()
        assert (value.engine, value.name) == (engine, name)


def test_the_baseline_is_the_package_as_it_is() -> None:
    assert load.variant("baseline").recipe == Recipe()


def test_what_weakens_security_says_so() -> None:
    """By the flag that takes a protection away, not by the author's memory."""
    taken = {"-fno-stack-protector", "-no-pie", "-U_FORTIFY_SOURCE", "-Wl,-z,norelro", "-fcf-protection=none"}
    taken |= {"-Wl,-z,lazy", "-fno-stack-clash-protection"}
    for variant in load.variants().values():
        recipe = variant.recipe
        named = [flags.flag(name).spellings.values() for name in recipe.flags]
        spelled = {word for entry in named for item in entry for word in item.words}
        weak = not recipe.hardening or bool({*recipe.c, *recipe.cxx, *recipe.link, *spelled} & taken)
        if {"fortify-2", "fortify-3"} & set(recipe.flags):  # these undefine it to define it anew
            weak = False
        weak |= recipe.static == "full"  # at a fixed address
        assert variant.weakens_security is weak, variant.name


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own.toml"


GOOD = 'reason = "A reason that is long enough to be one."\n'


def test_a_variant_of_ones_own(own: Path) -> None:
    own.write_text(
        f"[mine]\n{GOOD}[mine.recipe]\ntoolchain = 'clang-19'\nlevel = '-O3'\nlto = 'full'\n"
        "c = ['-DX', '-g']\noptions = { WITH_A = true, WITH_B = false, N = 3 }\n"
        f"[baseline]\n{GOOD}"
    )
    result = load.read_variants(own)
    assert result["mine"].recipe == Recipe(
        toolchain="clang-19",
        level="-O3",
        lto="full",
        c=("-DX", "-g"),
        options=(("WITH_A", "ON"), ("WITH_B", "OFF"), ("N", "3")),
    )
    assert load.variant("mine", result) is result["mine"]
    assert load.variant("baseline", result) is result["baseline"], "one's own before the catalogue's"
    assert load.variant("gcc-o3", result) is load.variants()["gcc-o3"]


def test_options_may_be_a_list_in_its_order(own: Path) -> None:
    own.write_text(f'[mine]\n{GOOD}recipe = {{ options = [["B", "1"], ["A", true]] }}\n')
    assert load.read_variants(own)["mine"].recipe.options == (("B", "1"), ("A", "ON"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[mine]\nreason = 3\n", "own.toml: mine: reason: input should be a valid string, found 3"),
        (f"[mine]\n{GOOD}recpie = {{}}\n", "unknown key in own.toml: mine 'recpie' (did you mean 'recipe'?)"),
        (
            f"[mine]\n{GOOD}recipe = {{ levle = '-O3' }}\n",
            "unknown key in own.toml: mine 'recipe.levle' (did you mean 'recipe.level'?); there are: recipe.a",
        ),
        (
            f"[mine]\n{GOOD}recipe = {{ lto = 'thick' }}\n",
            "own.toml: mine: recipe.lto: input should be 'none', 'thin' or 'full', found 'thick'",
        ),
        (
            f"[mine]\n{GOOD}recipe = {{ level = 'O3' }}\n",
            "own.toml: mine: recipe.level: string should match pattern '^-O([0-3sgz]|fast)$', found 'O3'",
        ),
        (f"[mine]\n{GOOD}recipe = {{ pgo = 'maybe' }}\n", "own.toml: mine: recipe.pgo: input should be a valid bool"),
        (f"[mine]\n{GOOD}recipe = {{ c = '-g' }}\n", "own.toml: mine: recipe.c: input should be a valid tuple"),
        (
            f"[mine]\n{GOOD}recipe = {{ options = 3 }}\n",
            "own.toml: mine: recipe.options: give a table of names and values, found 3",
        ),
        (
            f"[mine]\n{GOOD}recipe = {{ options = ['A=1'] }}\n",
            "own.toml: mine: recipe.options: give a table of names and values, found ['A=1']",
        ),
        ("mine = 3\n", "own.toml: mine: input should be a valid dictionary"),
        ("[mine\n", "own.toml: not valid TOML: "),
        ("[mine]\n[mine]\n", "own.toml: not valid TOML: "),
    ],
)
def test_a_wrong_entry_is_one_line_with_file_and_key(own: Path, content: str, says: str) -> None:
    own.write_text(content)
    with pytest.raises(UserError) as caught:
        load.read_variants(own)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("reason", ["", 'reason = ""\n', 'reason = "faster"\n'])
def test_a_reason_is_owed_by_the_catalogue_alone(own: Path, reason: str) -> None:
    own.write_text(f'[mine]\n{reason}recipe = {{ level = "-O3" }}\n')
    assert load.read_variants(own)["mine"].recipe.level == "-O3"
    with pytest.raises(UserError, match=r"^own.toml: mine: reason: (field required|string should have at least 20 ch)"):
        load.variants_of(read_toml(own), own.name, own.parent)


@pytest.mark.parametrize("name", ["percona", "Percona"])
def test_a_server_that_cannot_be_built_is_answered_with_what_can(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load.engine(name)
    message = str(caught.value)
    known = "mariadb, mysql, postgresql and sqlite"
    assert message.startswith(f"engine '{name}': only {known} can be built so far; the nearest to ")
    assert message.endswith(" is mysql")


def test_a_misspelled_engine_has_a_nearest_name() -> None:
    for name in ("postgres", "pg"):
        with pytest.raises(UserError, match=rf"^engine '{name}': PostgreSQL is called postgresql here$"):
            load.engine(name)
    with pytest.raises(UserError, match=r"unknown engine 'mariabd' \(did you mean 'mariadb'\?\)"):
        load.engine("mariabd")


def test_what_is_said_of_other_servers_names_engines_that_there_are() -> None:
    servers = other_servers()
    assert not set(servers) & set(load.engines())
    assert {server.nearest for server in servers.values()} <= {None, *load.engine_names()}


def test_a_file_that_cannot_be_read(own: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"^{own}: there is no such file$"):
        load.read_variants(own)
    with pytest.raises(UserError, match=rf"^{tmp_path}: cannot be read \(Is a directory\)"):
        load.read_variants(tmp_path)
    own.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=rf"^{own}: not valid TOML"):
        load.read_variants(own)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('title = "', 'titel = "'), "unknown key in fake/engine.toml 'titel' (did you mean 'title'?)"),
        (("options = { FAKE_EXTRAS = true }", "optoins = {}"), "'features.full.optoins' (did you mean"),
        (("seconds = 1.0", "secnods = 1.0"), "'training.0.secnods' (did you mean 'training.0.seconds'?)"),
        (("gate_s = 1", ""), "fake/engine.toml: costs.gate_s: field required"),
        (('user = "fake"', 'usr = "fake"'), "'packaging.usr' (did you mean 'packaging.user'?)"),
        (('default_features = "full"', 'default_features = "ful"'), "unknown feature set in fake/engine.toml 'ful'"),
        (
            ("options = { FAKE_EXTRAS = true }", 'like = "ful"'),
            "unknown like in fake/engine.toml: features: full",
        ),
        (("title =", 'language = "D"\ntitle ='), "fake/engine.toml: language: input should be 'C' or 'C++', found 'D'"),
        (
            ("window_s = 0.1", "window_s = 0"),
            "fake/engine.toml: times.duet.window_s: input should be greater than 0, found 0",
        ),
        (("turns = 2", ""), "fake/engine.toml: times.duet: turns is missing; the other designs take it from there"),
        (
            ("seconds = 1.0", "seconds = -1"),
            "fake/engine.toml: training.0.seconds: input should be greater than 0, found -1",
        ),
    ],
)
def test_a_wrong_engine_is_one_line_with_file_and_key(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    folder = copied("fake", tmp_path)
    text = (folder.path / "engine.toml").read_text()
    assert change[0] in text
    (folder.path / "engine.toml").write_text(text.replace(*change, 1))
    with pytest.raises(UserError) as caught:
        engines.read_engine(folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def copied(name: str, place: Path) -> EngineFolder:
    """A copy of an engine's description, to be changed."""
    (folder,) = (engine_folder for engine_folder in engine_folders() if engine_folder.name == name)
    (place / name).mkdir()
    shutil.copyfile(folder.path / "engine.toml", place / name / "engine.toml")
    return replace(folder, path=place / name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            f'[mix]\n{GOOD}program = "load"\nthreads = 0\n',
            "fake/workloads.toml: mix: threads: input should be greater than 0, found 0",
        ),
        (
            f'[mix]\n{GOOD}program = "load"\nengine = "fake"\n',
            "unknown key in fake/workloads.toml: mix 'engine'",
        ),
        (
            f'[mix]\n{GOOD}program = "load"\n[mox]\n{GOOD}like = "mxi"\n',
            "unknown like in fake/workloads.toml: mox 'mxi' (did you mean 'mix'?)",
        ),
        (
            '[mix]\nreason = "The one that is all there."\nprogram = "load"\n[mox]\nlike = "mix"\n',
            "fake/workloads.toml: mox: reason: field required",
        ),
    ],
)
def test_a_wrong_workload_is_one_line_with_file_and_key(tmp_path: Path, content: str, says: str) -> None:
    folder = copied("fake", tmp_path)
    (folder.path / "workloads.toml").write_text(content)
    with pytest.raises(UserError) as caught:
        engines.read_workloads(folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_load_may_be_like_another_one(tmp_path: Path) -> None:
    folder = copied("fake", tmp_path)
    one = f'[one]\n{GOOD}program = "load"\nthreads = 7\nparameters = {{ bytes = 1, letters = "x" }}\n'
    other = f'[other]\n{GOOD}like = "one"\nwrites = true\nparameters = {{ letters = "y" }}\n'
    (folder.path / "workloads.toml").write_text(one + other)
    loads = engines.read_workloads(folder)
    assert (loads["other"].program, loads["other"].threads, loads["other"].writes) == ("load", 7, True)
    assert loads["other"].parameters == (("bytes", "1"), ("letters", "y"))
    assert not loads["one"].writes


def test_a_feature_set_may_be_like_another_one(tmp_path: Path) -> None:
    folder = copied("fake", tmp_path)
    with (folder.path / "engine.toml").open("a") as file:
        file.write(f'\n[features.less]\n{GOOD}like = "full"\noptions = {{ FAKE_EXTRAS = false, FAKE_MORE = true }}\n')
        file.write(f'\n[features.same]\n{GOOD}like = "full"\n')
    sets = engines.read_engine(folder).features
    assert sets["less"].options == (("FAKE_EXTRAS", "OFF"), ("FAKE_MORE", "ON"))
    assert (sets["same"].options, sets["same"].reason) == (sets["full"].options, GOOD.split('"')[1])


def test_an_engine_has_variants_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied("fake", tmp_path)
    assert engines.read_variants_of(folder) == {}
    (folder.path / "variants.toml").write_text(f'[extra]\n{GOOD}recipe = {{ options = {{ FAKE_EXTRAS = "ON" }} }}\n')
    assert engines.read_variants_of(folder)["extra"].recipe.options == (("FAKE_EXTRAS", "ON"),)
    shipped = load.variants()
    assert {"gcc-o3", "mysql-vendor-pgo"} <= set(shipped)
    monkeypatch.setattr(load, "engine_folders", lambda: (folder,))
    assert list(load.variants.__wrapped__()) == [*read_toml(ROOT / "variants.toml"), "extra"]
    (folder.path / "variants.toml").write_text(f"[gcc-o3]\n{GOOD}")
    with pytest.raises(UserError, match=r"^fake/variants.toml: gcc-o3: there is a variant of this name already"):
        load.variants.__wrapped__()


def test_a_design_takes_from_the_duet_what_it_does_not_say(tmp_path: Path) -> None:
    folder = copied("fake", tmp_path)
    with (folder.path / "engine.toml").open("a") as file:
        file.write('\n[times.solo]\nreason = "Longer readings, and nothing else."\nwindow_s = 9.0\n')
    times = engines.read_engine(folder).times
    assert times[Design.SOLO] == replace(times[Design.DUET], window=9.0)
    assert times[Design.INTERLEAVED] == times[Design.DUET]


def test_a_load_has_one_place(tmp_path: Path) -> None:
    """Shared files are named, and no load is there twice."""
    folder = copied("fake", tmp_path)
    text = (folder.path / "engine.toml").read_text()
    (folder.path / "engine.toml").write_text(text.replace("title =", 'shared_loads = ["sysbench"]\ntitle =', 1))
    shared = engines.read_workloads(folder)
    assert shared["oltp_read_only"].engine == "fake"
    (folder.path / "workloads-2.toml").write_text(f'[oltp_read_only]\n{GOOD}program = "load"\n')
    with pytest.raises(UserError, match=r"shared/sysbench\.toml: oltp_read_only: fake has a load of this name already"):
        engines.read_workloads(folder)
    (folder.path / "engine.toml").write_text(text.replace("title =", 'shared_loads = ["sysbensh"]\ntitle =', 1))
    with pytest.raises(UserError, match=r"shared_loads of fake/engine\.toml 'sysbensh' \(did you mean 'sysbench'\?\)"):
        engines.read_workloads(folder)


def test_an_engine_is_called_as_its_folder_is(tmp_path: Path) -> None:
    folder = replace(copied("fake", tmp_path), name="other")
    with pytest.raises(UserError, match=r"fake/engine\.toml: name: found 'fake'; the engine of this folder is 'other'"):
        engines.read_engine(folder)


def test_unknown_names_get_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"unknown engine 'sqlit' \(did you mean 'sqlite'\?\)") as caught:
        load.engine("sqlit")
    assert "fake" not in re.sub(r"'.*'", "", str(caught.value)), "hidden ones are not listed"
    with pytest.raises(UserError, match=r"unknown variant 'gcc-o33' \(did you mean 'gcc-o3'\?\)"):
        load.variant("gcc-o33")
    with pytest.raises(UserError, match=r"unknown workload of fake 'fake_mx' \(did you mean 'fake_mix'\?\)"):
        load.workload(load.engine("fake"), "fake_mx")
    with pytest.raises(UserError, match=r"unknown workload of sqlite"):
        load.workload(load.engine("sqlite"), "fake_mix")


def test_the_source_that_comes_along() -> None:
    place = load.shipped_source(load.engine("fake"))
    assert place is not None
    assert (place / "server.c").is_file()
    assert load.shipped_source(load.engine("mariadb")) is None


def test_what_a_variant_changes_in_words() -> None:
    assert load.variant("baseline").recipe.changes() == {}
    assert load.variant("gcc-o3").recipe.changes() == {"level": "-O3"}
    assert load.variant("clang-pgo-thinlto").recipe.changes() == {
        "toolchain": "clang",
        "lto": "thin",
        "pgo": "yes",
        "link": "-fuse-ld=lld",
    }
