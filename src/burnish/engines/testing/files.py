"""What an engine's files must say, and that what they name is there."""

from __future__ import annotations

import pytest

from burnish.base import system
from burnish.base.errors import UserError
from burnish.catalogue import load, options
from burnish.engines.contract import Engine
from burnish.engines.testing.base import Contract
from burnish.model.workload import Design
from burnish.workload import loads


class FilesContract(Contract):
    """An engine's description is whole; nothing is built or run."""

    def test_its_names_are_there(self, engine: Engine) -> None:
        """Variants, loads, feature sets and packages that `engine.toml` names."""
        spec = engine.spec
        assert spec.ladder[0] == "baseline", "ladder: the first variant is the baseline"
        for name in spec.ladder:
            assert not load.variant(name).weakens_security, f"ladder: {name} weakens security: not by default"
        assert spec.workloads, "workloads: name the loads that a study takes by default"
        for name in (*spec.workloads, *(name for name, _ in spec.training)):
            assert load.workload(spec, name).engine == spec.name
        assert spec.default_features in spec.features
        assert set(spec.system_packages) <= set(system.groups()), "build_packages, load_packages: unknown groups"
        assert set(spec.times) == set(Design)

    def test_it_can_be_tested_and_profiled(self, engine: Engine) -> None:
        """The gate has tests, each once, and a profile has functions that must be in it."""
        assert engine.spec.gate_tests, "gate_tests: name the gate's tests"
        assert len(set(engine.spec.gate_tests)) == len(engine.spec.gate_tests), "gate_tests: one is there twice"
        assert engine.spec.covered, "covered: name functions that every load passes"

    def test_its_steps_cost_something(self, engine: Engine) -> None:
        """The plan and the check of the disk are made from these."""
        assert all(value > 0 for value in vars(engine.spec.costs).values()), "costs: found 0"

    def test_its_options_leave_out_tests_that_there_are(self, engine: Engine) -> None:
        """`untested` in `options.toml` names tests of the gate."""
        for option in options.options().get(engine.spec.name, {}).values():
            for value, tests in option.untested.items():
                assert set(tests) <= set(engine.spec.gate_tests), f"{option.name}={value}: untested"

    def test_every_load_can_be_asked_for(self, engine: Engine) -> None:
        """By its name, with its own number of threads."""
        own = [name for owner, name in load.workloads() if owner == engine.spec.name]
        assert own, "there is no load: write one in workloads.toml, or name shared ones in shared_loads"
        for name in own:
            workloads = engine.loads.resolve(loads.asked(name))
            assert workloads, name
            for workload in workloads:
                assert workload.engine == engine.spec.name
                engine.loads.check(workload)

    def test_what_is_no_load_is_refused(self, engine: Engine) -> None:
        """With the nearest name."""
        first = engine.spec.workloads[0]
        with pytest.raises(UserError, match="did you mean"):
            engine.loads.resolve(loads.asked(f"{first}z"))
