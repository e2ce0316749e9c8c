"""Libraries linked in: which ones, how each engine's build is told, and where that is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UnavailableError, UserError
from burnish.builds.sharing import objects_key
from burnish.builds.stages import Compile, PackageFlags, stages
from burnish.catalogue import load
from burnish.catalogue.options import options
from burnish.catalogue.space import space_file
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Recipe, Variant
from burnish.toolchain import linking
from burnish.toolchain.link_parts import NOTHING, Library, Parts, find_parts
from burnish.toolchain.toolchains import Toolchain

ENGINES = tuple(map(load.engine, ("mariadb", "mysql", "postgresql", "sqlite", "fake")))
LINKED = tuple(spec for spec in ENGINES if spec.linking.linked_in)
SSL = Library("libssl.a", Path("/lib/libssl.a"), "d1")
LIBRARIES = Recipe(static="libraries")


def compiled(recipe: Recipe, spec: EngineSpec, tools: Toolchain, parts: Parts = NOTHING) -> list[Compile]:
    """The compile stages of a recipe's chain."""
    chain = stages(
        Variant("v", recipe, "a reason that is long enough"),
        spec=spec,
        source="source",
        toolchain=tools,
        package=PackageFlags(("-O2",), ("-O2",), ("-Wl,-z,relro",)),
        features=spec.default_features,
        with_tools=False,
        bolt=None,
        profile_place="/work/profile",
        parts=parts,
    )
    return [stage for stage in chain if isinstance(stage, Compile)]


def test_a_search_links_libraries_in_for_engines_that_have_some() -> None:
    file = space_file()
    assert [spec.name for spec in LINKED] == ["mariadb", "mysql", "postgresql"]
    for spec in ENGINES:
        choices = {choice.name for choice in file.for_engine(spec).choices}
        assert ("libraries" in choices) is (spec in LINKED), spec.name


@pytest.mark.parametrize("spec", LINKED, ids=lambda spec: spec.name)
def test_what_is_linked_in_is_named_with_its_packages(spec: EngineSpec) -> None:
    own = spec.linking
    assert {archive.removesuffix(".a") for archive in own.archives} <= set(own.linked_in)
    assert own.archive_packages
    assert bool(own.bundled_options) is bool(own.bundled_archives)
    assert "Libraries linked in: " in load.engine(spec.name).folder.joinpath("engine.toml").read_text()
    assert dict(own.bundled_options).keys() <= options().get(spec.name, {}).keys()
    assert "WITH_SSL" not in dict(own.bundled_options), "another library for TLS would be another server"


@pytest.mark.parametrize("spec", LINKED, ids=lambda spec: spec.name)
def test_copies_in_the_source_are_compiled_and_trained_along(spec: EngineSpec, gcc: Toolchain) -> None:
    counted, final = compiled(replace(LIBRARIES, pgo=True), spec, gcc, Parts(archives=(SSL,)))
    bundled = set(spec.linking.bundled_options)
    assert counted.instrumented
    assert bundled <= set(counted.options)
    assert bundled <= set(final.options)
    assert not any("exclude-libs" in flag or "static-lib" in flag for flag in counted.flags.link)
    assert (counted.linking, final.linking.archives) == (linking.PLAIN, (SSL,))
    assert final.linking.linked_in == spec.linking.linked_in
    plain, _ = compiled(Recipe(pgo=True), spec, gcc)
    assert (plain.key == counted.key) is (not bundled), "without such copies all links share one profile"
    assert (objects_key(plain) == objects_key(counted)) is (not bundled)


def test_linked_in_means_the_compilers_libraries_too_and_nothing_to_see_from_outside(gcc: Toolchain) -> None:
    (stage,) = compiled(LIBRARIES, load.engine("mysql"), gcc)
    assert stage.flags.link == (
        "-O2", "-Wl,-z,relro", "-static-libgcc", "-static-libstdc++",
        *(f"-Wl,--exclude-libs={name}" for name in (
            "libssl.a", "libcrypto.a", "libstdc++.a", "libzlib.a", "libzstd.a", "liblz4_lib.a",
        )),
    )[1:]  # fmt: skip
    own = replace(LIBRARIES, options=(("WITH_ZSTD", "system"),))
    assert dict(compiled(own, load.engine("mysql"), gcc)[0].options)["WITH_ZSTD"] == "system", "the recipe's word wins"


def test_another_archive_is_another_build(gcc: Toolchain) -> None:
    spec = load.engine("postgresql")
    every = [Parts(), Parts(archives=(SSL,)), Parts(archives=(replace(SSL, digest="d2"),))]
    keys = [compiled(LIBRARIES, spec, gcc, parts)[-1].key for parts in every]
    assert len(set(keys)) == 3
    ignored = compiled(Recipe(static="runtime"), spec, gcc, Parts(archives=(SSL,)))
    assert ignored == compiled(Recipe(static="runtime"), spec, gcc)


@pytest.mark.parametrize("name", ["sqlite", "fake"])
def test_an_engine_without_libraries_is_refused_in_one_line(name: str, gcc: Toolchain) -> None:
    with pytest.raises(UserError) as caught:
        compiled(LIBRARIES, load.engine(name), gcc)
    assert not isinstance(caught.value, UnavailableError)
    assert str(caught.value).startswith("variant v: static = 'libraries': ")
    assert str(caught.value).endswith("; take static = 'runtime'")


def test_32_bits_and_what_is_not_installed_are_refused(gcc: Toolchain) -> None:
    spec = load.engine("mariadb")
    with pytest.raises(UserError, match=r"static = 'libraries' and word = 32: .*; leave one of the two out"):
        compiled(replace(LIBRARIES, word=32), spec, gcc, Parts(words=frozenset({64, 32})))
    with pytest.raises(UnavailableError, match=r"not here: libssl\.a; .*install .*libssl-dev libpcre2-dev"):
        compiled(LIBRARIES, spec, gcc, Parts(missing=("libssl.a",)))


def test_archives_are_looked_for_only_where_they_are_asked_for(gcc: Toolchain) -> None:
    own = replace(load.engine("fake").linking, archives=("libgcc.a", "libnowhere-x.a"), linked_in=("libgcc",))
    spec = replace(load.engine("fake"), linking=own)
    parts = find_parts(LIBRARIES, gcc, spec)
    assert [archive.name for archive in parts.archives] == ["libgcc.a"]
    assert parts.archives[0].path.is_file()
    assert parts.missing == ("libnowhere-x.a",)
    assert find_parts(Recipe(static="runtime"), gcc, spec) == NOTHING


def test_what_stays_at_its_version_is_said_before_and_after() -> None:
    words = "ecurity updates of the distribution don't reach"
    for name in ("libraries-linked-in", "clang-pgo-thinlto-bolt-libraries"):
        assert words in load.variant(name).reason
    assert words in space_file().space.choice("libraries").reason
    made = linking.notes("", linking.Linking(linked_in=("libssl", "libz")))
    assert made == ["linked in, so that security updates of the distribution do not reach them: libssl, libz"]
    assert linking.notes("") == []
