"""Profiles as artefacts on the fake engine: weighted, merged, named, carried to another home, used and audited."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError, UserError
from burnish.builds import witness
from burnish.catalogue import load
from burnish.engines.contract import Side, SideSpec
from burnish.model.recipe import Recipe
from burnish.profiles import archive as carrying
from burnish.profiles import inspecting, kept
from burnish.profiles.collecting import check_digest, function_counts
from burnish.record import seal
from burnish.record.store import DESCRIPTION, Entry
from burnish.source.archives import extract
from burnish.study.kept import reproducing
from burnish.toolchain.toolchains import Toolchain
from conftest import FakeBench
from profiling import WEIGHTS, Maker, pgo

Makers = Callable[[str], Maker]


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("artefacts")


@pytest.fixture
def maker(roots: Path, request: pytest.FixtureRequest) -> Makers:
    def get(family: str) -> Maker:
        toolchain: Toolchain = request.getfixturevalue(family)
        if not toolchain.has_profile_runtime:
            pytest.skip(f"{toolchain.name} without its profile runtime")
        return Maker(roots / family, toolchain)

    return get


def counts_of(made: Maker, entry: Entry) -> dict[str, int]:
    return function_counts(entry.about["kind"], entry.folder, made.shop.toolchain, named=False)


@pytest.mark.parametrize("family", ["clang", "gcc"])
def test_a_merge_is_the_weighted_sum_of_its_parts(maker: Makers, family: str) -> None:
    here = maker(family)
    _instrumented, mix, write, merge, final = here.make(replace(pgo(family), training=WEIGHTS))
    parts = [counts_of(here, entry) for entry in (mix, write)]
    sums = {name: 2 * parts[0].get(name, 0) + parts[1].get(name, 0) for name in {*parts[0], *parts[1]}}
    assert counts_of(here, merge) == sums
    assert merge.about["merged"] == [[mix.key, 2.0], [write.key, 1.0]]
    assert merge.about["source"] == "source"
    assert merge.about["training"] == [["fake_mix", 0.5], ["fake_write", 0.5]]
    assert "0 mismatching, 0 missing (0.0%" in final.about["audit"]
    assert final.about["profile"] == merge.key
    check_digest(merge)


def test_bolts_merge_is_the_weighted_sum_of_its_parts(maker: Makers) -> None:
    here = maker("gcc")
    if not here.shop.toolchain.bolt_can_instrument:
        pytest.skip("no BOLT that can instrument")
    *_, mix, write, merge, final = here.make(Recipe(bolt=True, training=WEIGHTS))
    parts = [counts_of(here, entry) for entry in (mix, write)]
    assert counts_of(here, merge) == {
        name: 2 * parts[0].get(name, 0) + parts[1].get(name, 0) for name in {*parts[0], *parts[1]}
    }
    assert re.search(
        r"[1-9]\d* of \d+ functions with a profile, 0 stale, 0 of \d+ hot ones missing", final.about["audit"]
    )


def test_a_second_round_counts_after_inlining_and_is_audited(maker: Makers) -> None:
    here = maker("clang")
    _, first, again, second, both, final = here.make(replace(pgo("clang"), context_sensitive=True))
    assert again.about["instrumented"]
    assert second.about["context_sensitive"] > 0
    assert first.about.get("context_sensitive") is None
    assert both.about["context_sensitive"] == second.about["context_sensitive"]
    assert both.about["counted"] == first.about["counted"]
    assert "0 mismatching, 0 missing (0.0%" in final.about["audit"]
    hot = int(final.about["audit"].split()[0])
    assert hot > int(again.about["audit"].split()[0]), "hot functions of both rounds are asked for"


def digests(*entries: Entry) -> dict[str, str]:
    return {entry.key: entry.about["digest"] for entry in entries}


def test_what_is_made_names_the_profiles_that_it_was_made_with(maker: Makers) -> None:
    """By their digests: a profile that is trained again has the same key."""
    plain, first, again, second, both, final = maker("clang").make(replace(pgo("clang"), context_sensitive=True))
    assert plain.made_with == {}
    assert first.made_with == again.made_with == digests(first)
    assert second.made_with == digests(first, second)
    assert both.made_with == final.made_with == digests(first, second, both)


def test_bolts_programs_name_the_profiles_of_what_they_were_made_from(maker: Makers) -> None:
    here = maker("gcc")
    if not here.shop.toolchain.bolt_can_instrument:
        pytest.skip("no BOLT that can instrument")
    _, profile, final, marked, bolts, bolted = here.make(replace(pgo("gcc"), bolt=True))
    assert final.made_with == marked.made_with == digests(profile)
    assert bolts.made_with == bolted.made_with == digests(profile, bolts)


def test_partial_training_is_used_and_audited(maker: Makers) -> None:
    here = maker("gcc")
    final = here.make(replace(pgo("gcc"), partial_training=True))[-1]
    assert "-fprofile-partial-training" in final.about["flags"]["c"]
    assert "0 mismatching, 0 missing (0.0%" in final.about["audit"]


@pytest.mark.parametrize("seed", [0, 5])
def test_a_seed_is_the_loads(maker: Makers, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    here = maker("gcc")
    seeds: list[int] = []
    side = here.shop.builder.engine.side

    def noted(spec: SideSpec) -> Side:
        seeds.append(spec.seed)
        return side(spec)

    monkeypatch.setattr(here.shop.builder.engine, "side", noted)
    instrumented, trained, _ = here.chain(replace(pgo("gcc"), training_seed=seed))
    here.shop.make(instrumented)
    entry = here.shop.make(trained)
    assert seeds == [1 + seed]
    assert entry.about["training_seed"] == seed


@pytest.mark.parametrize("family", ["clang", "gcc"])
def test_a_profile_goes_to_another_home_and_is_used_there(
    maker: Makers, tmp_path: Path, family: str, toolchains: list[Toolchain], bench: FakeBench
) -> None:
    here = maker(family)
    _, trained, _final = here.make(pgo(family))
    archive = tmp_path / "usual.tar.gz"
    mine = here.shop.builder.store
    carrying.export(trained, archive, inspecting.function_names(trained, mine, toolchains))
    there = Maker(tmp_path / "other", here.shop.toolchain)
    store, spec = there.shop.builder.store, there.shop.builder.engine.spec
    entry = carrying.import_profile(archive, "carried", spec, store, toolchains, bench, here=there.shop.builder.source)
    assert entry.about["source"] == "source"
    assert entry.about["counted"] == trained.about["counted"]
    assert counts_of(there, entry).keys() == {
        name.replace(str(here.shop.builder.source), str(there.shop.builder.source)) for name in counts_of(here, trained)
    }
    shown = inspecting.inspect(entry, store, there.shop.builder.engine, toolchains, 1)
    assert shown.hottest[0][0].endswith("fake_work"), "its functions have names, as at home"
    back = carrying.import_profile(
        archive, f"back-{family}", spec, mine, toolchains, bench, here=here.shop.builder.source
    )
    overlap = inspecting.compare(back, trained, mine, here.shop.builder.engine, toolchains)
    assert overlap.by_function == pytest.approx(1), "it is its own original"
    (used,) = there.make(pgo(family), profile="carried")
    assert used.about["profile"] == entry.key
    if family == "clang":
        assert "0 mismatching, 0 missing (0.0%" in used.about["audit"]
    assert "match" not in used.about


@pytest.mark.parametrize("family", ["clang", "gcc"])
def test_of_a_newer_source_it_is_said_how_much_of_a_profile_still_matches(
    maker: Makers, tmp_path: Path, family: str, toolchains: list[Toolchain], bench: FakeBench
) -> None:
    here = maker(family)
    _, trained, _final = here.make(pgo(family))
    archive = tmp_path / "usual.tar.gz"
    carrying.export(trained, archive)
    there = Maker(tmp_path / "work", here.shop.toolchain)
    builder = there.shop.builder
    carrying.import_profile(
        archive, "older", builder.engine.spec, builder.store, toolchains, bench, here=builder.source
    )
    file = builder.source / "fake_work.c"

    def another_branch(line: str, when: str) -> None:
        text = file.read_text()
        assert text.count(line) == 1
        file.write_text(text.replace(line, f'\tif ({when})\n\t\t__asm__ volatile("nop");\n{line}'))

    there.source = "newer"
    another_branch("\treturn hash;", "size > 99999")
    (used,) = there.make(pgo(family), profile="older")
    match = used.about["match"]
    assert 0.5 < match["share"] < 1
    assert match["unmatched"] >= 1
    assert used.about["audit"].startswith(f"trained on another source; {100 * match['share']:.4g} % of its counts")
    there.source = "newest"
    another_branch("\twhile (rounds-- > 0)", "percent > 99999")
    with pytest.raises(InfrastructureError, match=r"does not fit this build: trained on another source; \d"):
        there.make(pgo(family), profile="older")


def test_a_bare_profile_of_another_program_is_refused(
    maker: Makers, tmp_path: Path, toolchains: list[Toolchain], bench: FakeBench
) -> None:
    here = maker("clang")
    _, trained, _ = here.make(pgo("clang"))
    bare = tmp_path / "mine.profdata"
    carrying.export(trained, bare)
    store, builder = here.shop.builder.store, here.shop.builder
    entry = carrying.import_profile(bare, "bare", builder.engine.spec, store, toolchains, bench, here=builder.source)
    assert entry.about["source"] is None
    with pytest.raises(InfrastructureError, match=r"does not cover the server: sqlite3VdbeExec, .* never ran"):
        carrying.import_profile(bare, "foreign", load.engine("sqlite"), store, toolchains, bench, here=builder.source)
    assert "foreign" not in kept.names(store)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.txt", b"", "found .txt; allowed: .tar.gz, .tgz, .profdata"),
        ("x.tar.gz", b"nothing", "no profile that `burnish profile export` wrote"),
        ("gone.fdata", None, "there is no such file"),
    ],
)
def test_what_is_no_profile_is_not_imported(
    maker: Makers, tmp_path: Path, name: str, content: bytes | None, says: str, bench: FakeBench
) -> None:
    here = maker("gcc").shop.builder
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=re.escape(says)):
        carrying.import_profile(tmp_path / name, "n", here.engine.spec, here.store, [], bench, here=here.source)


def test_an_archive_whose_data_were_changed_or_lead_elsewhere(
    maker: Makers, tmp_path: Path, toolchains: list[Toolchain], bench: FakeBench
) -> None:
    here = maker("gcc")
    _, trained, _ = here.make(pgo("gcc"))
    builder, archive = here.shop.builder, tmp_path / "a.tar.gz"
    carrying.export(trained, archive)
    with pytest.raises(UserError, match="this file exists"):
        carrying.export(trained, archive)
    with pytest.raises(UserError, match=r"a gcc profile is written to a file that ends in \.tar\.gz$"):
        carrying.export(trained, tmp_path / "a.profdata")
    folder = tmp_path / "open"
    extract(archive, folder)
    data = next(folder.rglob("*.gcda"))
    data.write_bytes(data.read_bytes() + b"\0\0\0\0")
    changed, outside = tmp_path / "changed.tar.gz", tmp_path / "outside.tar.gz"
    with tarfile.open(changed, "w:gz") as packed:
        for path in (folder / carrying.MANIFEST, folder / "gcda"):
            packed.add(path, path.name)
    with tarfile.open(outside, "w:gz") as packed:
        packed.add(folder / carrying.MANIFEST, "../profile.json")
    for path, says in ((changed, "its data are not those that were exported"), (outside, "no profile that")):
        with pytest.raises(UserError, match=says):
            carrying.import_profile(
                path, "n", builder.engine.spec, builder.store, toolchains, bench, here=builder.source
            )


def test_names(maker: Makers) -> None:
    here = maker("gcc")
    _, trained, _ = here.make(pgo("gcc"))
    store = here.shop.builder.store
    kept.give_name(store, "one", trained.key)
    kept.give_name(store, "one", trained.key)
    assert kept.find(store, "one").key == kept.find(store, trained.key[:8]).key == trained.key
    assert "one" in kept.name_of(store, trained.key)
    for name, says in (("one", "has that name"), ("1", "begin with a letter"), ("a/b", "begin with a letter")):
        with pytest.raises(UserError, match=says):
            kept.give_name(store, name, "other")
    with pytest.raises(UserError, match=r"unknown profile 'on' \(did you mean 'one'\?\)"):
        kept.find(store, "on")
    hot = trained.folder / "hot.txt"
    whole = hot.read_bytes()
    hot.write_bytes(b"")  # as on a disk that was full
    try:
        for name in (trained.key, trained.key[:8], "one"):
            with pytest.raises(
                UserError, match=rf"^profile .*{trained.key}\)? is no longer in the store; train or import"
            ):
                kept.find(store, name)
    finally:
        hot.write_bytes(whole)


def test_hot_functions_have_the_names_that_people_know() -> None:
    assert inspecting._spelled([("crc.cc;_ZL5crc32PKcm", 0.7), ("_ZN4Item3fixEv", 0.2), ("row.cc;#12", 0.1)]) == (
        ("crc.cc;crc32", 0.7),
        ("Item::fix", 0.2),
        ("row.cc;#12", 0.1),
    )


@pytest.mark.parametrize("family", ["clang", "gcc"])
def test_an_inspection(maker: Makers, family: str, toolchains: list[Toolchain]) -> None:
    here = maker(family)
    _, trained, _ = here.make(pgo(family))
    store, engine = here.shop.builder.store, here.shop.builder.engine
    found = inspecting.inspect(trained, store, engine, toolchains, 3)
    assert 0 < found.counted <= found.functions
    assert found.hottest[0][0].endswith("fake_work"), "gcc's numbers too have names"
    assert found.hottest[0][1] > 0.5
    assert found.training == (("fake_mix", 0.5),)
    same = inspecting.compare(trained, trained, store, engine, toolchains)
    assert same.by_function == pytest.approx(1)
    assert (same.only_here, same.only_there) == (0, 0)
    assert same.by_counter == (1 if family == "clang" else None)


def test_profiles_of_two_kinds_have_no_overlap(maker: Makers, toolchains: list[Toolchain]) -> None:
    here, other = maker("gcc"), maker("clang")
    one, two = here.make(pgo("gcc"))[1], other.make(pgo("clang"))[1]
    with pytest.raises(UserError, match="name one of the same kind"):
        inspecting.compare(one, two, here.shop.builder.store, here.shop.builder.engine, toolchains)


def test_no_overlap_is_claimed_of_what_no_tool_reads(tmp_path: Path, maker: Makers) -> None:
    here = maker("gcc")
    sampled = Entry("profiles", "k", tmp_path, {"kind": "gcc-samples"}, used=0.0)
    with pytest.raises(UserError, match="--against k: only gcc reads its sampled profiles"):
        inspecting.compare(sampled, sampled, here.shop.builder.store, here.shop.builder.engine, ())


def test_a_bolt_profile_of_another_program_is_refused(maker: Makers) -> None:
    here = maker("gcc")
    if not here.shop.toolchain.bolt_can_instrument:
        pytest.skip("no BOLT that can instrument")
    *_, trained, final = here.make(Recipe(bolt=True))
    store = here.shop.builder.store
    store.remove(final)
    hot = trained.folder / "hot.txt"
    before = hot.read_text()

    def written(text: str) -> None:
        """As if training had found these."""
        hot.write_text(text)
        about = seal.sealed(trained.about, trained.folder, DESCRIPTION)
        (trained.folder / DESCRIPTION).write_text(json.dumps(about))

    written(f"{before}\nfoo/1\nbar")
    try:
        with pytest.raises(
            InfrastructureError, match=r"does not fit this build: .* 2 of \d+ hot ones missing; first: bar"
        ):
            here.make(Recipe(bolt=True))
    finally:
        written(before)


def test_who_makes_a_build_again_is_told_of_every_training(maker: Makers, tmp_path: Path) -> None:
    here = maker("clang")
    final = here.make(replace(pgo("clang"), context_sensitive=True, training=WEIGHTS))[-1]
    making = witness.read(final.about)
    assert making is not None
    assert making.profile is not None
    told = reproducing._training(here.shop.builder.store, making, tmp_path, "")
    assert told.count(": trained on fake_mix for 0.5 s") == 2, "once in each round"
    assert told.count(": trained on fake_write for 0.5 s") == 2
    assert "part 1 of profile.profdata: merged of part 1 of part 1 of profile.profdata times 2 and " in told
    scripts = sorted(path.parent.name for path in tmp_path.glob("*/build.sh"))
    assert scripts == ["instrumented-clang", "instrumented-clang-2"]
    for script in scripts:
        assert f"{script}/build.sh makes" in told
