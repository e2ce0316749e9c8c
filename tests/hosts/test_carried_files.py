"""Users' files travel by digest, and nothing else does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.paths import Home
from burnish.cli import options, readers
from burnish.cli.common import app
from burnish.cli.declaration import Verb
from burnish.hosts import carried as files
from burnish.hosts.carried import carried, laid, without
from burnish.source import sources


def test_files_that_a_command_names_are_laid_down_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text("recipes")
    Path("mine.lua").write_text("load")
    tree = Path("tree")
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "a.c").write_text("int a;")
    words = ("tune", "fake", "--recipes=own.toml", "--workload", "mine.lua:tables=8,fake_mix", "--source", "tree",
             "--set", "storage=/tmp")  # fmt: skip
    sent = carried(words)
    assert (sent.words[:2], sent.words[-2:]) == (("tune", "fake"), ("--set", "storage=/tmp"))
    home = Home(tmp_path / "elsewhere")
    there = laid(home, sent)
    assert all(word.count(str(home.root)) <= 1 for word in there)
    assert Path(there[2].partition("=")[2]).read_text() == "recipes"
    script, parameters = there[4].split(",")[0].split(":")
    assert (Path(script).read_text(), Path(script).name, parameters) == ("load", "mine.lua", "tables=8")
    assert (Path(there[6]) / "sub" / "a.c").read_text() == "int a;"
    assert laid(home, carried(words)) == there, "equal content has an equal place"


def test_what_named_files_need_goes_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("patches").mkdir()
    Path("patches/x.diff").write_text("a patch")
    Path("away.diff").write_text("another")
    Path("own.toml").write_text('[x]\nrecipe = { patches = ["-R patches/x.diff", "/shared/y.diff"] }\n')
    Path("mine.lua").write_text('require("helper")\n')
    Path("helper.lua").write_text("helps")
    sent = carried(
        ("patch", "fake", "--recipes", "own.toml", "--workload", "mine.lua:tables=8,fake_mix", "-R away.diff")
    )
    there = laid(Home(tmp_path / "elsewhere"), sent)
    recipes, (script, _, parameters) = Path(there[3]), there[5].split(",")[0].partition(":")
    assert (recipes.name, (recipes.parent / "patches/x.diff").read_text()) == ("own.toml", "a patch")
    assert (Path(script).name, parameters) == ("mine.lua", "tables=8")
    assert Path(script).with_name("helper.lua").read_text() == "helps"
    assert there[6].startswith("-R ")
    assert Path(there[6].removeprefix("-R ")).read_text() == "another"
    Path("own.toml").write_text('[x]\nrecipe = { patches = ["../x.diff"] }\n')
    with pytest.raises(
        UserError, match=r"own\.toml: needs \S*\.\./x\.diff, and hosts get only what lies in its folder"
    ):
        carried(("tune", "fake", "--recipes", "own.toml"))


@pytest.mark.parametrize("words", [("--data", "dump.sql"), ("--data=dump.sql",)])
def test_a_users_data_stay_here(words: tuple[str, ...]) -> None:
    with pytest.raises(UserError, match=r"--data with --hosts: your own data stay on this host"):
        carried(("tune", "mariadb", *words))


@pytest.mark.parametrize("joined", [False, True])
def test_a_revision_is_sent_as_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joined: bool) -> None:
    """As it was committed; elsewhere there is neither the repository nor its path."""
    monkeypatch.chdir(tmp_path)
    server = Path("server")
    (server / "sql").mkdir(parents=True)
    (server / "sql/a.c").write_text("int a;")
    (server / "run.sh").write_text("#!/bin/sh\n")
    (server / "run.sh").chmod(0o755)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a"], ["tag", "mysql-8.4.8"]):
        subprocess.run(["git", "-C", server, *identity, *words], check=True)
    (server / "sql/a.c").write_text("changed, not committed")
    given = ("--source=server:mysql-8.4.8",) if joined else ("--source", "server:mysql-8.4.8")
    sent = carried(("tune", "fake", *given))
    server.rename("away")
    place = Path(laid(Home(tmp_path / "elsewhere"), sent)[-1].removeprefix("--source="))
    assert sorted(str(path.relative_to(place)) for path in place.rglob("*")) == ["run.sh", "sql", "sql/a.c"]
    assert (place / "sql/a.c").read_text() == "int a;"
    assert (place / "run.sh").stat().st_mode & 0o100
    source = sources.resolve(sources.SourceRequest("fake", None, place), cache=tmp_path, say=print)
    assert source.version == "8.4.8", "as where the repository is"
    Path("away").rename("server")
    assert carried(("tune", "fake", *given)) == sent, "the same revision is sent as the same bytes"
    with pytest.raises(UserError, match=r"server has no revision 'mysql-1.0'"):
        carried(("tune", "fake", "--source", "server:mysql-1.0"))


def test_a_folder_that_has_an_engines_name_and_programs_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fake").mkdir()
    Path("server").write_text("program")
    assert carried(("compare", "./server", "fake"), keep=["./server"]).words == ("compare", "./server", "fake")


def test_programs_stay_and_loads_beside_them_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read where they lie on each host; alone, a file that is sent could not even be started."""
    monkeypatch.chdir(tmp_path)
    for name in ("server", "gcc-13", "mine.lua", "other.sql"):
        Path(name).write_text(name)
    programs = ("./server", f"new={tmp_path / 'server'}")
    sent = carried(("compare", *programs, "--why", "--workload=fake_mix:mine.lua=2,other.sql=1,fake_mix:rows=2"))
    there = laid(Home(tmp_path / "elsewhere"), sent)
    assert there[1:3] == programs
    mix = re.fullmatch(r"--workload=fake_mix:(.+)=2,(.+)=1,fake_mix:rows=2", there[4])
    assert mix is not None
    assert [Path(file).read_text() for file in mix.groups()] == ["mine.lua", "other.sql"]
    given = ("study", "run", "sun-2008", "--release", "./server", "--second-compiler", "./gcc-13")
    assert carried(given).words == given


def test_a_file_that_has_the_name_of_another_word_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("8", "patch", "x.diff", "gcc-pgo", "fake_mix", "percona-2026", "duet"):
        Path(name).write_text(name)
    given = ("patch", "fake", "--starts", "8", "-R", "x.diff", "--variant=gcc-pgo", "--workload", "fake_mix", "--why")
    sent = carried((*given, "x.diff", "--", "8"), keep=["fake"])
    assert sent.words[: len(given)] == given
    assert [sent.files[word.split(":")[1]].decode() for word in (sent.words[-3], sent.words[-1])] == ["x.diff", "8"]
    for words in (("study", "run", "percona-2026"), ("tune", "fake", "--design", "duet")):
        assert carried(words).words == words


def test_options_of_the_verbs_that_run_on_hosts_are_known() -> None:
    def verbs(group: Any) -> Iterator[Verb]:
        for command in group.commands.values():
            yield from verbs(command) if hasattr(command, "commands") else [command.verb]

    of_hosts = [verb for verb in verbs(typer.main.get_command(app)) if options.ON_HOSTS in verb.options]
    assert {"tune", "compare", "patch", "run"} <= {verb.name for verb in of_hosts}

    def spellings(*read_by: object) -> set[str]:
        known = {option for verb in of_hosts for option in verb.options if option.reader in read_by}
        return {flag for option in known for flag in (*option.flags, *option.same, *option.old)}

    assert set(files.FLAGS) == {flag for flag in spellings(None) if flag.startswith("--")}
    assert set(files.LOADS) == spellings(readers.workloads)
    assert {*files.FILES, *files.FOLDERS} == spellings(readers.path, readers.paths) - {"--data", "--release"}
    taking = {flag for verb in of_hosts for option in verb.options if option.reader for flag in option.flags}
    assert set(files.SHORT) == {flag for flag in taking if not flag.startswith("--")}
    assert {verb.name for verb in of_hosts if any(declared.many for declared in verb.arguments)} == {files.PATCH}


def test_a_file_that_arrives_changed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.patch"
    file.write_text("patch")
    sent = carried(("patch", "fake", str(file)))
    changed = replace(sent, files=dict.fromkeys(sent.files, b"another"))
    with pytest.raises(InfrastructureError, match="arrived changed"):
        laid(Home(tmp_path / "home"), changed)


def test_too_large_files_are_refused_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    file = tmp_path / "own.toml"
    file.write_text("more than ten bytes")
    with pytest.raises(UserError, match="MB are sent to each host"):
        carried(("tune", "fake", "--recipes", str(file)))


def test_options_are_left_out_with_their_values() -> None:
    words = ("tune", "fake", "--hosts", "all", "--json", "--hosts=kind=zen5", "--starts", "2")
    assert without(words, {"--hosts": True, "--json": False}) == ("tune", "fake", "--starts", "2")
