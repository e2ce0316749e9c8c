"""Which class behaves for which engine; imported when asked for, so that a verb loads only what it needs."""

from __future__ import annotations

from importlib import import_module

from burnish.engines.contract import Engine
from burnish.model.engine import EngineSpec

_CLASSES = {"sqlite": "sqlite.engine:Sqlite", "mariadb": "mariadb.engine:MariaDB", "fake": "fake.engine:FakeEngine"}


def create(spec: EngineSpec) -> Engine:
    """The behaviour of an engine."""
    module, _, name = _CLASSES[spec.name].partition(":")
    engine = getattr(import_module(f"burnish.engines.{module}"), name)(spec)
    assert isinstance(engine, Engine)  # noqa: S101 - _CLASSES is ours
    return engine
