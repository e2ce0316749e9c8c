"""Every published choice of options is answered by today's catalogue, or it is said why it can't be."""

from __future__ import annotations

import dataclasses

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import flags, load, options
from burnish.catalogue.answers import PUBLISHED, Answer, answered_by, answers, published
from burnish.model.recipe import Marks, Recipe


def test_every_published_line_is_answered_and_nothing_else() -> None:
    assert len(published()) == 52
    assert sorted(answers()) == sorted(published())


@pytest.mark.parametrize("answer", answers().values(), ids=lambda answer: answer.line)
def test_an_answer_names_what_is_there(answer: Answer) -> None:
    mariadb = options.options()["mariadb"]
    for name in (*answer.flags, *answer.nearest):
        flags.flag(name)
    for name in answer.targets:
        flags.target(name)
    for name in answer.variants:
        load.variant(name)
    assert {*answer.options, *answer.nearest_options} <= set(mariadb)
    assert set(answer.recipe) <= {field.name for field in dataclasses.fields(Recipe)}
    says = (answer.flags, answer.targets, answer.recipe, answer.options, answer.variants, answer.setting)
    assert any(says) != answer.none, "an equivalent, or none, and not both"


def test_no_equivalent_is_explained() -> None:
    restrict = answers()["sun-compiler-flags: -xrestrict=%all"]
    assert (restrict.none, restrict.nearest) == (True, ("points-to",))
    for answer in answers().values():
        if answer.none:
            assert len(answer.reason) > 40


def test_entries_know_what_they_answer_to() -> None:
    assert answered_by("flags", "prefetch-loops") == ("sun-compiler-flags: -xprefetch=auto -xprefetch_level=3",)
    assert "mysql-manual: charsets" in answered_by("options", "WITH_EXTRA_CHARSETS")
    assert answered_by("flags", "jcc-erratum") == ()


def test_the_published_tables_come_along() -> None:
    assert {path.name for path in PUBLISHED.glob("*.csv")} >= {"arm-perf.csv", "sun-studio-11-32bit.csv"}
    assert (PUBLISHED / "README.md").is_file()


def test_what_an_option_leaves_untested_is_of_its_engines_gate() -> None:
    for engine, known in options.options().items():
        gate = load.engine(engine).gate_tests
        for option in known.values():
            for tests in option.untested.values():
                assert set(tests) <= set(gate), option.name
                assert len(tests) < len(gate) / 10, "a gate that asks for little proves little"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"untested": {"of": ["a"]}, "why_untested": "what is not there"}, "untested: of: none of its values"),
        ({"untested": {"off": ["a"]}}, "untested and why_untested belong together"),
        ({"why_untested": "what is not there"}, "untested and why_untested belong together"),
    ],
)
def test_what_is_left_untested_is_explained(entry: dict[str, object], said: str) -> None:
    whole = {
        "does": "what it does, in short",
        "reason": "why one would want to take it out of the server",
        "values": ["on", "off"],
        "default": "on",
        "where": "CMakeLists.txt",
    }
    assert options.read_option("X", whole, "x.toml: X").untested == {}
    with pytest.raises(UserError, match=said):
        options.read_option("X", whole | entry, "x.toml: X")


def test_options_say_what_a_recipe_may_say() -> None:
    known = options.options()
    assert {"mariadb", "sqlite"} <= set(known)
    assert {"WITH_SAFEMALLOC", "WITH_EXTRA_CHARSETS", "PLUGIN_*", "WITH_SSL"} <= set(known["mariadb"])
    for name in (name for name in known["sqlite"]):
        assert name.startswith("SQLITE_")


def test_marks_of_options_depend_on_the_value() -> None:
    assert options.marks([("SECURITY_HARDENED", "OFF")]) == Marks(weakens_security=True)
    assert not options.marks([("SECURITY_HARDENED", "ON"), ("NO_SUCH", "1"), ("PLUGIN_SPIDER", "NO")])
    assert options.marks([("DEFAULT_CHARSET", "utf8mb4")]).changes_results


def test_options_are_searched_by_any_part() -> None:
    known = options.options()["mariadb"].values()
    assert "WITH_SAFEMALLOC" in {option.name for option in options.search(known, ["overruns"])}
    assert options.search(known, ["no such word"]) == []
