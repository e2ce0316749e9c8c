"""An engine's class is the one that its file names; it is imported when it is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base import process
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec


@pytest.mark.parametrize("spec", load.engines().values(), ids=lambda spec: spec.name)
def test_every_engine_behaves_by_the_class_that_it_names(spec: EngineSpec) -> None:
    engine = create(spec)
    assert engine.spec is spec
    assert spec.implementation == f"{type(engine).__module__}:{type(engine).__name__}"
    assert type(engine).__module__.startswith(f"burnish.engines.{spec.name}.")


def test_no_engine_is_imported_before_it_is_asked_for() -> None:
    asks = (
        "import sys; from burnish.catalogue import load; from burnish.engines import registry; "
        "load.engines(); load.workloads(); before = set(sys.modules); registry.create(load.engine('fake')); "
        "print([name for name in sorted(sys.modules) if name.startswith('burnish.engines.') and name.count('.') == 3])"
    )
    import sys

    said = process.capture([sys.executable, "-c", asks])
    assert said.strip() == "['burnish.engines.fake.engine', 'burnish.engines.fake.gate']"


@pytest.mark.parametrize(
    ("implementation", "says"),
    [
        ("burnish.engines.fake.engin:FakeEngine", "No module named 'burnish.engines.fake.engin'"),
        ("burnish.engines.fake.engine:FakeEngin", "has no attribute 'FakeEngin'"),
        ("burnish.engines.fake.engine:FakeSide", "is no engine; derive it from burnish.engines.contract.Engine"),
        ("burnish.engines.contract:Engine", "contract:Engine lacks answers, build, create_dataset, gate, "),
    ],
)
def test_a_class_that_is_none_is_named(implementation: str, says: str) -> None:
    with pytest.raises(UserError, match=r"fake/engine\.toml: class: ") as caught:
        create(replace(load.engine("fake"), implementation=implementation))
    assert says in str(caught.value)
