"""Where variants and choices of a search are from: every one of them says so, or its parts do."""

from __future__ import annotations

from burnish.catalogue import load, sources
from burnish.catalogue.bolt import bolt_options
from burnish.catalogue.flags import flag
from burnish.catalogue.space import space_file
from burnish.model.recipe import Recipe
from burnish.report.sections import catalogue
from burnish.search.effects import size_for
from burnish.search.space import Step
from drawn import drawn


def test_every_variant_has_a_source() -> None:
    assert not [name for name, one in load.variants().items() if not sources.of(one.source, one.recipe)]


def test_every_choice_of_a_search_has_a_source() -> None:
    assert not [name for name, known in space_file().sources.items() if not known]


def test_what_an_entry_states_comes_before_what_its_parts_do() -> None:
    rich = Recipe(flags=("speculative-devirtualisation",), bolt=True, bolt_options=("-frame-opt=hot",))
    assert sources.of("mine", rich) == ("mine",)
    assert sources.of("", rich) == (
        flag("speculative-devirtualisation").source,
        bolt_options()["-frame-opt=hot"].source,
        sources.BOLT,
        sources.COMPILERS,
    )
    assert sources.of("", Recipe(hardening=False)) == (sources.HARDENING,)
    (option, *_) = sources.of("", Recipe(options=(("FPROFILE_USE", "ON"),)))
    assert option == "mysql: cmake/fprofile.cmake"
    assert sources.of("", Recipe(strip="all")) == ()


def test_sources_are_shown() -> None:
    assert "source: binutils: strip(1)" in drawn(catalogue.variants([load.variant("strip-all")]))
    file = space_file()
    space = file.for_engine(load.engine("mariadb"))
    whole = " ".join(drawn(catalogue.space("mariadb", space, file.sources, full=True)).split())
    after = whole.partition("bolt-frames (kept, optimised; rewrite; ±0.2 %)")[2]
    assert 0 < after.find("source: BOLT: A Practical") < after.find("bolt-jump-tables (")
    assert "BOLT: A Practical" not in drawn(catalogue.space("mariadb", space, file.sources))


def test_a_space_in_full_says_each_reason_and_all_that_it_forbids() -> None:
    file = space_file()
    space = file.for_engine(load.engine("mariadb"))
    lines = drawn(catalogue.space("mariadb", space, file.sources, full=True)).splitlines()
    assert max(map(len, lines)) <= 80
    whole = " ".join(" ".join(lines).split())
    for choice in space.choices:
        assert choice.reason in whole, choice.name
    for rule in space.forbidden:
        for name, levels in rule.together.items():
            assert f"{name}={' or '.join(levels)}" in whole
    assert whole.count("BOLT's options need BOLT") == 1, "a reason of many rules stands once"
    assert whole.count("inlining=generous: flag") + whole.count("inlining=sparing: flag") > 0
    assert "inlining=generous: inline-threshold=" not in whole, "what a rule is about stands once"


def test_a_space_says_how_to_allow_what_it_leaves_out() -> None:
    short = drawn(catalogue.space("mariadb", space_file().for_engine(load.engine("mariadb"))))
    assert "Left out for their marks, unless --allow names these" in short
    assert "hardening=off: weakens security" in short


def test_a_search_tries_every_option_of_bolt_that_is_known() -> None:
    """What is a variant is a choice: options of the catalogue of BOLT are in the space."""
    levels = {option for overlay in space_file().overlays.values() for option in overlay.get("bolt_options", ())}
    assert {entry.option for entry in bolt_options().values()} <= levels
    flags = {name for overlay in space_file().overlays.values() for name in overlay.get("flags", ())}
    assert {"no-slp-vectorisation", "speculative-devirtualisation"} <= flags


def test_what_bolt_can_do_fits_a_screen_of_twelve_builds() -> None:
    """One factor more is a design of sixteen, and 20 minutes of a search of MariaDB within three hours."""
    rewriting = [choice for choice in space_file().space.choices if choice.step is Step.REWRITE]
    assert size_for(sum(len(choice.levels) - 1 for choice in rewriting)) == 12
