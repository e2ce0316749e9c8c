"""From an engine's description to its behaviour, imported when asked for: a verb loads only what it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from burnish.base.errors import UserError
from burnish.engines.contract import Engine
from burnish.engines.packaged import PackagedServer
from burnish.model.engine import EngineSpec


def create(spec: EngineSpec) -> Engine:
    """The behaviour of an engine.

    Raises:
        UserError: the class that its file names does not exist, is not an `Engine`, or lacks methods of it.
    """
    behaviour: type[Engine] = _class(spec, "class", spec.implementation, Engine, "engine")
    return behaviour(spec)


def packaged(spec: EngineSpec) -> PackagedServer:
    """The behaviour of an engine's packaged servers.

    Raises:
        UserError: the distribution has no package of it, or the class that its file names does not exist, is not a
            `PackagedServer`, or lacks methods of it.
    """
    if spec.packaging is None:
        raise UserError(f"{spec.title}: the distribution has no package of its server")
    named = spec.packaging.implementation
    behaviour: type[PackagedServer] = _class(spec, "packaging", named, PackagedServer, "packaged server")
    return behaviour(spec.packaging)


def _class(spec: EngineSpec, key: str, path: str, base: type[Any], what: str) -> type[Any]:
    """The class that an engine's file names.

    Args:
        spec: the engine.
        key: where the file names it.
        path: its name, ``package.module:Class``.
        base: what it must be derived from.
        what: that in words.
    """
    where = f"{spec.folder / 'engine.toml'}: {key}: {path}"
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UserError(f"{where} cannot be loaded: {error}") from error
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UserError(f"{where} is no {what}; derive it from {base.__module__}.{base.__name__}")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise UserError(f"{where} lacks {', '.join(missing)}")
    return found
