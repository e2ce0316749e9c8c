"""From words to values: repeated or by commas, bounds in our words, last version's spellings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.cli import binding, readers
from burnish.cli import options as o
from burnish.cli.declaration import Argument, Option, Verb
from burnish.cli.options import DESIGNS, VARIANTS, WORKLOADS
from burnish.model.workload import Design

EVERY = [value for value in vars(o).values() if isinstance(value, Option)]


def _name(value: object) -> str:
    """What a case is called: the same in every process that runs a part of the tests."""
    return value.field if isinstance(value, Option) else str(value)


@pytest.mark.parametrize(
    ("option", "words", "value"),
    [
        (VARIANTS, ["a,b", "c"], ("a", "b", "c")),
        (VARIANTS, [" a , b "], ("a", "b")),
        (VARIANTS, [], ()),
        (WORKLOADS, ["x:tables=8,rand-type=pareto,y", "z"], ("x:tables=8,rand-type=pareto", "y", "z")),
        (o.THREADS, ["1,4", "16"], (1, 4, 16)),
        (o.SET, ["sql_mode=A,B", "binlog=on"], ("sql_mode=A,B", "binlog=on")),
        (DESIGNS, ["solo", "duet"], (Design.SOLO, Design.DUET)),
        (DESIGNS, [], tuple(Design)),
        (o.DESIGN, [], None),
        (o.PRECISION, [], 0.01),
        (o.PRECISION, ["none"], None),
        (o.PRECISION, ["0.5%"], 0.005),
        (o.PRECISION, ["0.02"], 0.02),
        (o.MAX_STARTS, [], 12),
        (o.MAX_STARTS, ["60"], 60),
        (o.LAYOUTS, ["0"], 0),
        (o.BUDGET, ["1h30m"], 5400.0),
        (o.SECONDS, ["2.5"], 2.5),
        (o.SOURCE, ["a,b"], Path("a,b")),
        (o.FORCE, ["yes"], True),
        (o.FORCE, [], False),
    ],
    ids=_name,
)
def test_words_become_a_value(option: Option, words: list[str], value: object) -> None:
    assert option.value_of(words) == value


@pytest.mark.parametrize(
    ("option", "words", "said"),
    [
        (VARIANTS, ["a,b", "a"], "--variant: 'a' is named twice; name each once"),
        (VARIANTS, [""], "--variant: found an empty name; name something, or leave --variant out"),
        (VARIANTS, [" ,"], "--variant: found an empty name; name something, or leave --variant out"),
        (o.FEATURES, [""], "--features: found an empty name; name something, or leave --features out"),
        (o.SOURCE, [" "], "--source: found an empty name; name something, or leave --source out"),
        (o.ARTEFACTS, [""], "--artefacts: found an empty name; name something, or leave --artefacts out"),
        (o.RUN_OPTION, [""], "--run: found an empty name; name something, or leave --run out"),
        (o.THREADS, [""], "--threads: found no number; give whole numbers, as in 1,4,16, or leave --threads out"),
        (o.MAX_STARTS, ["0"], "--max-starts 0: give a whole number from 3 to 60"),
        (o.MAX_STARTS, ["many"], "--max-starts many: give a whole number from 3 to 60"),
        (o.CALIBRATION_STARTS, ["11"], "--starts 11: give a whole number from 12 to 200"),
        (o.JOBS, ["0"], "--jobs 0: give a whole number of at least 1"),
        (o.ALLOW, ["foo"], "unknown mark of --allow 'foo'; there are: changes-results, narrows-portability, weakens-s"),
        (o.ALLOW, ["changes-result"], "unknown mark of --allow 'changes-result' (did you mean 'changes-results'?); "),
        (o.SECONDS, ["1"], "--seconds 1: give a number from 2 to 600"),
        (o.KEEP_GB, ["nan"], "--keep-gb nan: give a number of at least 0"),
        (o.KEEP_GB, ["inf"], "--keep-gb inf: give a number of at least 0"),
        (o.PRECISION, ["banana"], "--precision banana: give a half-width from 0.05% to 20%, or 'none'"),
        (o.LAYOUTS, ["2"], "--layouts 2: a verdict by replicate needs at least 3"),
        (o.DESIGN, ["duett"], "unknown design 'duett' (did you mean 'duet'?); there are: duet, interleaved, solo"),
        (o.DESIGN, ["duet,solo"], "--design duet,solo: name one design"),
        (WORKLOADS, ["tables=8"], "--workload tables=8: 'tables=8' has no load before it"),
        (o.BUDGET, ["soon"], "--budget soon: give hours and minutes, as in 2h, 90m or 1h30m"),
    ],
    ids=_name,
)
def test_what_is_wrong_is_said_with_what_is_allowed(option: Option, words: list[str], said: str) -> None:
    with pytest.raises(UserError) as caught:
        option.value_of(words)
    assert str(caught.value).startswith(said)


def test_all_that_is_wrong_is_said_at_once() -> None:
    verb = Verb("v", "It is a verb.", (), (o.MAX_STARTS, o.PRECISION, o.SEED), "burnish v")
    with pytest.raises(UserError) as caught:
        verb.values({"max_starts": ["0"], "precision": ["wide"], "seed": ["3"]})
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()] == [
        "2 things are wrong with this request",
        "--max-starts 0",
        "--precision wide",
    ]


OLD = {
    "--workloads": "--workload",
    "--variants": "--variant",
    "--designs": "--design",
    "--out": "--output",
    "--study": "--run",
    "--rows": "--row",
    "--portability": "--emulate",
    "--check": "--cross-check",
}


def test_last_versions_spellings_work_and_say_the_new_one() -> None:
    assert {old: option.name for option in EVERY for old in option.old} == OLD
    verb = Verb("v", "It is a verb.", (), (WORKLOADS, VARIANTS, o.SET), "burnish v")
    words, changed = verb.renamed(["a", "--workloads", "x", "--variants=y", "--set", "b=c", "--", "--workloads"])
    assert words == ["a", "--workload", "x", "--variant=y", "--set", "b=c", "--", "--workloads"]
    assert changed == [("--workloads", "--workload"), ("--variants", "--variant")]


def test_other_spellings_that_stay_are_taken_without_a_word() -> None:
    assert {same: option.name for option in EVERY for same in option.same} == {"--load": "--workload"}
    verb = Verb("v", "It is a verb.", (), (WORKLOADS,), "burnish v")
    assert verb.renamed(["--load", "mine.lua", "--load=x", "--", "--load"]) == (
        ["--workload", "mine.lua", "--workload=x", "--", "--load"],
        [],
    )


def test_a_default_that_is_read_is_a_good_one() -> None:
    for option in EVERY:
        if option.default:
            option.value_of([])


def test_a_verb_whose_function_and_declaration_differ_is_found_on_import() -> None:
    engine = Argument("engine", "ENGINE", "An engine.")

    def nothing(engine: str, other: str) -> None: ...
    def less() -> None: ...

    for function, said in ((nothing, "not declared: ['other']"), (less, "declared for nothing: ['engine']")):
        with pytest.raises(TypeError) as caught:
            binding.command(None, Verb("v", "A verb.", (engine,), (), "burnish v"), function, lambda _: None)  # type: ignore[arg-type]
        assert said in str(caught.value)


def test_a_refined_option_keeps_its_name_and_help() -> None:
    assert replace(o.STARTS, default="3").help == o.MICRO_STARTS.help == o.STARTS.help
    assert readers.integer(1)("--n", ["7"]) == 7


def test_weights_and_guards_are_of_loads_with_their_parameters() -> None:
    words = ["a:x=1,y=2=3,b=2", "c=0"]
    assert readers.weights("--weight", words) == (("a:x=1,y=2", 3.0), ("b", 2.0), ("c", 0.0))
    assert readers.workloads("--guard", ["a:x=1,y=2,b"]) == ("a:x=1,y=2", "b")
    for wrong, says in (
        (["a"], "--weight a: give LOAD=NUMBER, as in --weight a=2"),
        (["a:x=1"], "--weight a:x=1: give LOAD=NUMBER, as in --weight a:x=1=2"),
        (["a=1,a=2"], "--weight: 'a' is named twice; name each once"),
        (["a=much"], "--weight a much: give a number of at least 0"),
        ([","], "--weight: found an empty name; name something, or leave --weight out"),
    ):
        with pytest.raises(UserError) as error:
            readers.weights("--weight", wrong)
        assert str(error.value) == says
    with pytest.raises(UserError, match=r"^--guard x=1: 'x=1' has no load before it; write LOAD:x=1$"):
        readers.workloads("--guard", ["x=1"])
