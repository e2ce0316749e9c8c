"""A settings file: found, read, what each verb takes from it, and that its words need no file afterwards."""

from __future__ import annotations

import errno
import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.cli.common import app
from burnish.cli.config import asking, settings
from burnish.cli.config.keys import ALSO, PANELS, PER_CALL, keys, taken, verbs_of

VERBS = verbs_of(typer.main.get_command(app))
KEYS = keys(VERBS)
TUNE = ("tune",)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def given(*typed: str, verb: tuple[str, ...] = TUNE) -> Any:
    return settings.given(VERBS, verb, VERBS[verb], typed)


def called(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


def test_a_verb_takes_what_it_has_an_option_for(here: Path) -> None:
    (here / "burnish.toml").write_text(
        'engine = "fake"\nworkload = ["fake_mix", "fake_low"]\nthreads = [1, 4]\nprecision = "2%"\nstrict = true\n'
        'budget = "2h"\nexplore = false\nas = "tar"\nvariant = "gcc-pgo"\nstarts = 8\n'
    )
    assert given().words == {
        "engine": ("fake",),
        "variants": ("gcc-pgo",),
        "workloads": ("fake_mix", "fake_low"),
        "ladder": ("1", "4"),
        "precision": ("2%",),
        "starts": ("8",),
        "strict": ("yes",),
        "budget": ("2h",),
    }
    assert given(verb=("package",)).words == {"format": ("tar",)}, "one variant is another question than several"
    assert "starts" not in given(verb=("calibrate",)).words, "it has bounds of its own"
    assert given(verb=("study", "run")).words == {"budget": ("2h",)}, "a study is a file of its own"
    assert "engine" not in given(verb=("why",)).words, "it finds the engine out"
    assert given(verb=("show",)).words == given(verb=("init",)).words == {}


def test_a_file_for_another_engine_is_not_used(here: Path) -> None:
    (here / "burnish.toml").write_text('engine = "fake"\nworkload = "fake_mix"\n')
    for typed in (("sqlite",), ("--engine=sqlite",), ("--engine", "sqlite")):
        assert given(*typed).words == {}
        assert "is not used, as it is for fake; this is about sqlite" in given(*typed).note
    assert given("fake").words["workloads"] == ("fake_mix",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max-startz = 3", "unknown key in {file} 'max-startz' (did you mean 'max-starts'?)"),
        ("yes = true", "{file}: 'yes' can't be a key (consent is given by a person"),
        ("max-starts = 99", "{file}: max-starts: give a whole number from 3 to 60, found 99"),
        ("strict = 1", "{file}: strict: give true or false, found 1"),
        ("budget = 2025-01-01", "{file}: budget: give a text or a number, found"),
        ('design = "duett"', "{file}: design: unknown design 'duett' (did you mean 'duet'?)"),
        ('engine = "mariadbb"', "{file}: engine: unknown engine 'mariadbb' (did you mean 'mariadb'?)"),
        ('workload = ["a", true]', "{file}: workload: give a text or a number, or a list of these, found ['a', True]"),
        ("engine = ", "{file}: not valid TOML"),
    ],
)
def test_what_is_wrong_names_file_key_and_what_is_allowed(here: Path, text: str, said: str) -> None:
    file = here / "burnish.toml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        given()
    assert str(caught.value).startswith(said.format(file=file))
    assert "\n" not in str(caught.value)
    called("tune", "--help")  # help is shown all the same


def test_the_nearest_file_is_read_and_its_paths_are_relative_to_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "burnish.toml").write_text(
        'source = "tree"\nrecords = ["a.jsonl.xz", "/b.jsonl.xz"]\nworkload = "mine.sql:threads=4,sqlite_kv"\n'
        'artefacts = "shared"\n'
    )
    below = here / "x" / "y"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert given().words == {
        "source": (str(here / "tree"),),
        "workloads": (f"{here}/mine.sql:threads=4", "sqlite_kv"),
        "artefacts": (f"{here}/shared",),
    }
    assert given(verb=("history",)).words == {"hosts": (f"{here}/a.jsonl.xz", "/b.jsonl.xz")}
    (here / "x" / "burnish.toml").write_text('artefacts = "s3://bucket/x"')
    assert given().words == {"artefacts": ("s3://bucket/x",)}
    (here / "x" / "burnish.toml").write_text("")
    assert given().words == {}
    assert given("--config", str(here / "burnish.toml")).words
    monkeypatch.setenv(settings.VARIABLE, str(here / "burnish.toml"))
    assert given().words
    assert given("--config=none").words == {}
    with pytest.raises(UserError, match=r"--config away.toml: there is no such file"):
        given("--config", "away.toml")


def test_a_comma_in_a_path_is_part_of_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "burnish.toml").write_text('source = "trees/9.7,patched"\nrecords = "a.jsonl,b.jsonl"\n')
    (here / "x").mkdir()
    monkeypatch.chdir(here / "x")
    assert given().words == {"source": (f"{here}/trees/9.7,patched",)}
    assert given(verb=("history",)).words == {"hosts": (f"{here}/a.jsonl", f"{here}/b.jsonl")}


def test_a_home_folder_in_a_path_is_found_wherever_the_file_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dba")
    (here / "burnish.toml").write_text('source = "~/src"\nworkload = ["~/x.sql"]\n')
    for folder in (here, here / "x"):
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        assert given().words == {"source": ("/home/dba/src",), "workloads": ("/home/dba/x.sql",)}


def test_files_within_a_word_are_relative_to_it_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "burnish.toml").write_text(
        'prior = ["records/x.jsonl.xz", "fake-tune-1"]\n'
        'workload = ["in_turn:./mine.lua=2,oltp_read_only=1", "sql_bench:tree=./bench", "oltp_insert:tables=2"]\n'
    )
    (here / "x").mkdir()
    monkeypatch.chdir(here / "x")
    words = given().words
    assert words["prior"] == (f"{here}/records/x.jsonl.xz", "fake-tune-1")
    assert words["workloads"] == (
        f"in_turn:{here}/mine.lua=2,oltp_read_only=1",
        f"sql_bench:tree={here}/bench",
        "oltp_insert:tables=2",
    )


def test_a_file_that_others_could_have_put_there_is_not_used(here: Path) -> None:
    file = here / "burnish.toml"
    file.write_text('engine = "fake"\n')
    file.chmod(0o666)
    assert given().settings is None
    assert "everybody can write to it" in given().note
    file.chmod(0o644)
    if os.getuid() == 0:
        os.chown(file, 12345, -1)
        assert "belongs to another user" in given().note
    assert given("--config", str(file)).words, "whoever names it trusts it"


def test_words_are_completed_so_that_they_need_no_file() -> None:
    words = {"engine": ("fake",), "workloads": ("a", "b"), "strict": ("yes",)}
    added = settings.spelled(VERBS[TUNE], words)
    assert added == ("fake", "--workload=a", "--workload=b", "--strict")
    typed = ["--config", "x.toml", "-y", "tune", "--config=y.toml", "--seed", "3"]
    assert settings.completed(typed, TUNE, added) == ("-y", "tune", *added, "--seed", "3")
    assert settings.completed(["pytest"], TUNE, added) == ("pytest",)


def test_the_command_line_wins_and_json_says_what_the_file_gave(here: Path) -> None:
    file = here / "burnish.toml"
    file.write_text('engine = "fake"\nworkload = "fake_low"\nprecision = "2%"\n')
    done = called("plan", "--workload", "fake_mix", "--json")
    value = json.loads(done.stdout)
    assert value["config"]["options"] == ["fake", "--precision=2%"]
    assert value["config"]["file"] == str(file)
    assert f"burnish: from {file}: fake --precision=2%" in done.stderr
    assert "config" not in json.loads(called("plan", "fake", "--config", "none", "--json").stdout)
    help_page = "".join(called("tune", "-h").stdout.split())  # a long path is wrapped at its hyphens
    assert f"From{file}:fake--workload=fake_low--precision=2%" in help_page


def test_every_option_is_a_key_or_has_a_reason_why_not() -> None:
    options = {option.name: option for words, verb in VERBS.items() for option in verb.options}
    assert set(ALSO) | (set(PER_CALL) - {"--config"}) <= set(options), "each is one"
    for name in {name for name, option in options.items() if option.panel in PANELS} - set(PER_CALL):
        assert name.removeprefix("--") in KEYS
    assert {"yes", "force", "output"}.isdisjoint(KEYS), "a file neither consents nor writes"
    used = {key for words, verb in VERBS.items() for key in taken(words, verb, KEYS)}
    assert used == set(KEYS), "a verb takes each"


def test_init_writes_what_is_given_and_what_is_usual(here: Path) -> None:
    called("init", "--workload", "speedtest1,kvtest", "--budget", "90m", "--yes")
    text = (here / "burnish.toml").read_text()
    assert tomllib.loads(text) == {"engine": load.example(), "workload": ["speedtest1", "kvtest"], "budget": "90m"}
    assert given().words["budget"] == ("90m",), "it reads what it writes"
    for key, option in KEYS.items():
        assert f"{key} = " in text
        assert option.help.split("{")[0][:40] in " ".join(text.replace("\n# ", " ").split("\n"))
    with pytest.raises(UserError, match="is there already"):
        called("init", "--yes")
    with pytest.raises(UserError, match="unknown engine 'mysqlite'"):
        called("init", "--engine", "mysqlite", "--output", "other.toml")
    assert not (here / "other.toml").exists()


def test_a_full_disk_leaves_no_half_of_a_settings_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(OSError, match=r"No space left on device: 'burnish\.toml'"):
        called("init", "--yes")
    assert not list(here.iterdir())


def test_init_takes_the_data_of_statements(here: Path) -> None:
    (here / "mine.sql").write_text("SELECT 1;\n")
    (here / "dump.sql").write_text("CREATE DATABASE shop;\nUSE shop;\nCREATE TABLE t (a int);\n")
    words = ("init", "--engine", "mariadb", "--workload", "./mine.sql", "--yes")
    with pytest.raises(UserError, match="statements need data to work on; name a dump or a data folder in --data"):
        called(*words)
    with pytest.raises(UserError, match="--database shop: is of your own data; name them with --data"):
        called(*words, "--database", "shop")
    called(*words, "--data", "dump.sql", "--database", "shop")
    written = tomllib.loads((here / "burnish.toml").read_text())
    assert (written["workload"], written["data"], written["database"]) == ("./mine.sql", "dump.sql", "shop")


def test_init_for_another_folder_writes_paths_that_hold_there(here: Path) -> None:
    (here / "a.jsonl.xz").touch()
    (here / "tree").mkdir()
    (here / "x").mkdir()
    words = ("--source", "tree", "--workload", "kvtest", "--records", "a.jsonl.xz", "--yes")
    called("init", *words, "--output", "x/burnish.toml")
    written = tomllib.loads((here / "x/burnish.toml").read_text())
    assert written["source"] == f"{here}/tree"
    assert written["workload"] == "kvtest"
    assert written["records"] == f"{here}/a.jsonl.xz"
    called("init", *words)
    assert tomllib.loads((here / "burnish.toml").read_text())["source"] == "tree"


def test_what_only_a_measurement_uses_is_refused_without_one(here: Path) -> None:
    with pytest.raises(UserError, match=r"^--starts: says how it is measured; add --measure, or leave --starts out"):
        called("verify", "server.deb", "--starts", "3")
    (here / "burnish.toml").write_text("starts = 8\n")
    with pytest.raises(UserError, match=r"^server.deb: there is no such file"):
        called("verify", "server.deb")
    with pytest.raises(UserError, match=r"^--due resumes whatever is due; leave fake-tune out, or --due"):
        called("resume", "fake-tune", "--due")


def test_a_commented_key_can_be_uncommented(here: Path) -> None:
    text = asking.text(KEYS, {})
    every = [line.removeprefix("# ") for line in text.splitlines() if line.partition(" = ")[0][2:] in KEYS]
    assert len(every) == len(KEYS)
    tomllib.loads("\n".join(every))


def test_questions_are_asked_again_until_the_answer_is_good(here: Path) -> None:
    answers = iter(["mariadbb", "sqlite", "nowhere", "", "speedtest", "speedtest1", "soon", "2h", ""])
    asked = []

    def answer(question: str, usual: str) -> str:
        asked.append((question, usual))
        return next(answers)

    found = asking.interview(KEYS, {}, here, answer)
    assert found == {"engine": ("sqlite",), "workload": ("speedtest1",), "budget": ("2h",)}
    assert asked[0] == (f"Which database server ({' or '.join(load.engine_names())})", load.example())
    assert "speedtest1" in asked[4][0], "it says what is usual for this engine"
