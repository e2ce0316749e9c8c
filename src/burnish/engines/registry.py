"""From an engine's description to its behaviour, imported when asked for: a verb loads only what it needs."""

from __future__ import annotations

from importlib import import_module

from burnish.base.errors import UserError
from burnish.engines.contract import Engine
from burnish.engines.packaged import PackagedServer
from burnish.model.engine import EngineSpec


def create(spec: EngineSpec) -> Engine:
    """The behaviour of an engine.

    Raises:
        UserError: the class that its file names does not exist, is not an `Engine`, or lacks methods of it.
    """
    module, _, name = spec.implementation.partition(":")
    try:
        behaviour = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"{spec.folder / 'engine.toml'}: class: {spec.implementation} cannot be loaded: {error}"
        ) from error
    if not (isinstance(behaviour, type) and issubclass(behaviour, Engine)):
        raise UserError(
            f"{spec.folder / 'engine.toml'}: class: {spec.implementation} is no engine; derive it from "
            "burnish.engines.contract.Engine"
        )
    if missing := sorted(getattr(behaviour, "__abstractmethods__", ())):
        raise UserError(f"{spec.folder / 'engine.toml'}: class: {spec.implementation} lacks {', '.join(missing)}")
    return behaviour(spec)


def packaged(spec: EngineSpec) -> PackagedServer:
    """The behaviour of an engine's packaged servers.

    Raises:
        UserError: the distribution has no package of it, or the class that its file names can't be loaded.
    """
    if spec.packaging is None:
        raise UserError(f"{spec.title}: the distribution has no package of its server")
    module, _, name = spec.packaging.implementation.partition(":")
    try:
        behaviour = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"{spec.folder / 'engine.toml'}: packaging: {spec.packaging.implementation} cannot be loaded: {error}"
        ) from error
    if not (isinstance(behaviour, type) and issubclass(behaviour, PackagedServer)):
        raise UserError(
            f"{spec.folder / 'engine.toml'}: packaging: {spec.packaging.implementation} is no packaged server; "
            "derive it from burnish.engines.packaged.PackagedServer"
        )
    made: PackagedServer = behaviour(spec.packaging)
    return made
