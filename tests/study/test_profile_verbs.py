"""The profile verbs: what they print, what recipes then do with a name while planning, bad input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish import cli
from burnish.base.errors import UserError
from burnish.model.recipe import Recipe, Variant
from burnish.study.builds.resolving import Chain, resolve
from burnish.toolchain.toolchains import Toolchain
from profiling import WEIGHTS, Maker, pgo

Burnish = Callable[..., tuple[int, str, str]]


@pytest.fixture
def burnish(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Burnish:
    """Runs the command line in this process: (exit code, output, errors)."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["burnish", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = int(str(end.code))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def planned(here: Maker, toolchains: list[Toolchain], recipe: Recipe) -> Chain:
    builder = here.shop.builder
    baseline = Variant("baseline", Recipe(), "the baseline")
    return resolve(
        [baseline, Variant("mine", recipe, "for a test of planning")],
        spec=builder.engine.spec,
        source_digest="source",
        source=builder.source,
        toolchains=toolchains,
        features="full",
        profile_place=builder.profile_place,
        store=builder.store,
    )[1]


def test_from_training_to_a_name_and_back(
    burnish_home: Path, tmp_path: Path, burnish: Burnish, gcc: Toolchain, toolchains: list[Toolchain]
) -> None:
    here = Maker(burnish_home, gcc)
    _, mix, write, _merge, _final = here.make(Recipe(pgo=True, training=WEIGHTS))
    _, out, _ = burnish("profile", "list", "--json")
    listed = json.loads(out)["profiles"]
    assert sorted(len(each["training"]) for each in listed) == [1, 1, 2]
    assert burnish("profile", "keep", mix.key[:8], "--name", "mix")[0] == 0
    code, _, err = burnish("profile", "merge", "mix", write.key, "--weights", "4,1", "--name", "mixed")
    assert code == 0, err
    _, shown, _ = burnish("profile", "show", "mixed", "--against", "mix")
    for words in (f"merged of mix x 4 and {write.key} x 1", "functions counted", "fake_work", "by function", "mix: "):
        assert words in " ".join(shown.split()), shown
    assert max(map(len, shown.splitlines())) <= 80
    figures = json.loads(burnish("profile", "show", "mixed", "--top", "2", "--json")[1])
    assert len(figures["hottest"]) == 2
    assert figures["name"] == "mixed"
    archive = tmp_path / "mixed.tar.gz"
    assert burnish("profile", "export", "mixed", archive)[0] == 0
    code, _, err = burnish("profile", "import", archive, "--name", "again", "--engine", "fake")
    assert code == 0, err
    for name, other in (("mixed", "again"), ("again", "mixed")):
        overlap = json.loads(burnish("profile", "show", name, "--against", other, "--json")[1])["against"]
        assert overlap["by_function"] == pytest.approx(1), (
            "the same counters, though only one of them knows the functions' names"
        )
        assert (overlap["only_here"], overlap["only_there"]) == (0, 0)
    assert burnish("profile", "export", mix.key, tmp_path / "mix.tar.gz")[0] == 0
    assert burnish("profile", "import", tmp_path / "mix.tar.gz", "--name", "carried", "--engine", "fake")[0] == 0
    overlap = json.loads(burnish("profile", "show", "mix", "--against", "carried", "--json")[1])["against"]
    assert overlap["by_function"] == pytest.approx(1)
    _, listing, _ = burnish("profile", "list")
    assert {line.split()[0] for line in listing.splitlines()} >= {"mix", "mixed", "again"}

    (final,) = planned(here, toolchains, Recipe(pgo=True, profile="again")).stages
    assert json.loads(burnish("profile", "show", "again", "--json")[1])["key"] == vars(final)["profile"]
    with pytest.raises(
        UserError, match=r"^variant mine: profile: unknown profile 'mixd' \(did you mean 'mixed'\?\); there are: "
    ):
        planned(here, toolchains, Recipe(pgo=True, profile="mixd"))


def test_a_profile_of_another_compiler_is_refused_while_planning(
    burnish_home: Path, burnish: Burnish, gcc: Toolchain, clang: Toolchain, toolchains: list[Toolchain]
) -> None:
    here = Maker(burnish_home, gcc)
    _, trained, _ = here.make(Recipe(pgo=True))
    burnish("profile", "keep", trained.key, "--name", "usual")
    with pytest.raises(UserError, match=r"profile usual is a profile of kind gcc, the recipe \(clang-"):
        planned(here, toolchains, Recipe(toolchain="clang", pgo=True, profile="usual"))
    other = here.make(pgo("gcc"))
    assert other[1].key == trained.key


def test_samples_and_bolts_options_are_looked_at_while_planning(
    tmp_path: Path, gcc: Toolchain, toolchains: list[Toolchain]
) -> None:
    here = Maker(tmp_path, gcc)
    sampled = planned(here, toolchains, Recipe(pgo=True, sampled=True))
    assert "this host gives no branch records" in (sampled.missing or "")
    if gcc.bolt is not None and gcc.bolt_can_instrument:
        with pytest.raises(UserError, match=r"did you mean 'reorder-blocks'\?"):
            planned(here, toolchains, Recipe(bolt=True, bolt_options=("-reorder-blocs=none",)))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["profile", "show", "nothing"], "unknown profile 'nothing'; there is none yet"),
        (["profile", "merge", "one", "--name", "x"], "merge: one profile named; name two or more"),
        (["profile", "merge", "a", "b", "--weights", "1", "--name", "x"], "--weights 1: give 2 numbers above 0"),
        (["profile", "merge", "a", "b", "--weights", "1,nan", "--name", "x"], "--weights 1,nan: give 2 numbers"),
        (["profile", "import", "/no/such.fdata", "--name", "x", "--engine", "fake"], "there is no such file"),
        (["profile", "import", "/no/such.fdata", "--name", "9", "--engine", "fake"], "--name 9: begin with a letter"),
        (["profile", "import", "x.fdata", "--name", "x", "--engine", "fak"], "unknown engine 'fak'"),
        (["profil", "list"], "unknown verb 'profil' (did you mean 'profile'?)"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(burnish: Burnish, words: list[str], says: str) -> None:
    code, _, err = burnish(*words)
    assert code == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err
