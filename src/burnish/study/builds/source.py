"""The source that a study builds: the requested one, or its engine's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.catalogue import load
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


def check_source(spec: EngineSpec, options: Options) -> None:
    """A `UserError` for a requested folder that is not the engine's source, before it is read and copied.

    An archive and a revision are looked at when they are unpacked.
    """
    if options.source is not None and options.source.is_dir():
        create(spec).check_source(options.source)


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
    return value_of(
        SourceObtained, {("source_kind" if name == "kind" else name): plain(values[name]) for name in values}
    )
