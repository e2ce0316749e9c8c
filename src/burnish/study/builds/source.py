"""The source that a study builds: the requested one, or its engine's own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from burnish.base import temporary
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.record.codec import plain, value_of
from burnish.record.events.builds import SourceObtained
from burnish.source import sources
from burnish.study.request.options import Options
from burnish.study.session import Session


def source_request(spec: EngineSpec, options: Options, pinned: str | None = None) -> sources.SourceRequest:
    """The requested source, or the engine's own in the version that the run began with."""
    local = options.source or load.shipped_source(spec)
    debian = None
    if local is None:
        if spec.debian_package is None:
            raise UserError(f"{spec.name} has no source of its own; name one with --source")
        version = options.source_version or pinned
        debian = sources.DebianSource(package=spec.debian_package, version=version, suites=spec.debian_suites)
    return sources.SourceRequest(engine=spec.name, debian=debian, local=local, sha256=options.sha256)


def check_source(home: Home, spec: EngineSpec, options: Options) -> str | None:
    """What a user should know of a requested source; a `UserError` for one that is not the engine's.

    Before it is copied or unpacked.

    Also for a home in which no make can build anything.

    Of an archive or a revision that is not unpacked yet, only the files that the engine looks at are laid out; one
    without such a list looks at them when they are built.
    """
    _check_home(home)
    engine, local = create(spec), options.source
    if local is None:
        return None
    if local.is_dir():
        return _check(engine, local, local)
    if not engine.source_files:
        return None
    request, place = source_request(spec, options), home.work(spec.name) / "source"
    known = sources.known(request, cache=home.downloads)
    if known is not None and sources.is_unpacked(known.digest, place):
        return _check(engine, place, local)
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as folder:
        return _check(engine, sources.some_of(local, engine.source_files, Path(folder) / "source"), local)


def _check_home(home: Home) -> None:
    if any(letter.isspace() for letter in str(home.root)):
        raise UserError(f"{home.root}: make takes no path with a space; name a folder without one in BURNISH_HOME")


def _check(engine: Engine, tree: Path, local: Path) -> str | None:
    """The engine's note on a tree that is made from what the user named; the error of a wrong one names that."""
    try:
        engine.check_source(tree)
    except UserError as error:
        raise UserError(str(error).replace(str(tree), str(local))) from None
    return engine.source_note(tree)


def unpacked(
    home: Home, spec: EngineSpec, options: Options, say: Callable[[str], None], pinned: str | None = None
) -> tuple[sources.Source, Path]:
    """The requested source, fetched if necessary, and its tree at the engine's constant path.

    Args:
        home: where it goes.
        spec: the engine.
        options: what was requested.
        say: called with messages for the user.
        pinned: version of the package that a run began with, if it has begun.
    """
    _check_home(home)  # where no plan was made first: on a worker, for timing a function
    request = source_request(spec, options, pinned)
    cache, place = home.downloads, home.work(spec.name) / "source"
    source = sources.resolve(request, cache=cache, say=say)
    return source, sources.unpack(source, request, cache=cache, place=place, say=say)


def obtain_source(session: Session, pinned: str | None) -> tuple[sources.Source, Path]:
    """A study's source and tree (see `unpacked`), as a step of it."""
    with session.bench.step("source", "source", counts=False):
        return unpacked(session.home, session.spec, session.options, session.bench.say, pinned)


def source_obtained(source: sources.Source) -> SourceObtained:
    """A source as an event of the record."""
    values: dict[str, object] = asdict(source)
    del values["by_content"]
    return value_of(
        SourceObtained, {("source_kind" if name == "kind" else name): plain(values[name]) for name in values}
    )
