"""What an engine must know of programs: its own again, and no others."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.engines.contract import Built, Engine
from burnish.engines.testing.base import Contract, PlainBench, is_kept, state_of_build
from burnish.program.elf import build_id


def script(path: Path, *lines: str) -> Path:
    """An executable shell script."""
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


class ProgramContract(Contract):
    """A built or existing program says what it is and answers."""

    def test_identity_is_what_the_program_says(self, engine: Engine, built: Built, bench: PlainBench) -> None:
        """The same each time; its build id is the file's."""
        one, other = engine.identity(built, bench), engine.identity(built, bench)
        assert one == other
        assert one.version
        assert list(one.features) == sorted(one.features)
        assert len(dict(one.features)) == len(one.features), "each feature once"
        assert one.build_id == build_id(built.server)

    def test_its_own_program_is_known_again(self, engine: Engine, built: Built, bench: PlainBench) -> None:
        """As one that exists already; its key is of what it holds."""
        existing = engine.existing(built.server)
        assert existing.server == built.server.resolve()
        assert existing.key == engine.existing(built.server).key
        assert engine.identity(existing, bench) == engine.identity(built, bench)

    def test_foreign_programs_are_refused_unseen(self, engine: Engine, tmp_path: Path) -> None:
        """Nothing that is not the engine's is run to find that out."""
        ran = tmp_path / "ran"
        folder = tmp_path / "folder"
        folder.mkdir()
        text = tmp_path / "text"
        text.write_text("no program\n")
        other = script(tmp_path / "script", f"touch {ran}")
        for program in (Path("/bin/true"), other, text, folder, tmp_path / "none"):
            with pytest.raises(UserError) as caught:
                engine.existing(program)
            assert str(program) in str(caught.value), "the message names the program"
            assert "\n" not in str(caught.value)
        assert not ran.exists(), "existing() ran a program that is not the engine's"

    def test_it_answers(self, engine: Engine, built: Built, bench: PlainBench, tmp_path: Path) -> None:
        """Queries with known answers, and the build's own folder is left as it was."""
        before = state_of_build(engine, built)
        place = tmp_path / "answers"
        place.mkdir(mode=0o700)
        assert engine.answers(built, place, bench) is None
        assert state_of_build(engine, built) == before

    def test_it_answers_under_a_launcher(self, engine: Engine, built: Built, bench: PlainBench, tmp_path: Path) -> None:
        """As under an emulator: the words stand before the program."""
        launcher = script(tmp_path / "launcher", f'echo "$1" >> {tmp_path}/launched', 'exec "$@"')
        place = tmp_path / "answers"
        place.mkdir(mode=0o700)
        assert engine.answers(built, place, bench, (str(launcher),)) is None
        launched = (tmp_path / "launched").read_text().splitlines()
        assert built.server.resolve() in {Path(line).resolve() for line in launched}

    def test_a_program_that_does_not_run_is_told_in_a_line(
        self, engine: Engine, built: Built, bench: PlainBench, tmp_path: Path
    ) -> None:
        """As where an emulated processor lacks an instruction: no exception."""
        place = tmp_path / "answers"
        place.mkdir(mode=0o700)
        why = engine.answers(built, place, bench, (str(script(tmp_path / "launcher", "kill -ILL $$")),))
        assert why
        assert "\n" not in why

    def test_a_kept_build_may_lie_anywhere(
        self, engine: Engine, built: Built, bench: PlainBench, tmp_path: Path
    ) -> None:
        """The store may be moved: nothing in a build names its own folder."""
        if not is_kept(engine, built):
            pytest.skip("an existing program, not a build")
        shutil.copytree(built.folder, tmp_path / "moved", symlinks=True)
        moved = engine.built("moved", tmp_path / "moved", built.key)
        assert engine.identity(replace(moved, name=built.name), bench) == engine.identity(built, bench)
        place = tmp_path / "answers"
        place.mkdir(mode=0o700)
        assert engine.answers(moved, place, bench) is None
