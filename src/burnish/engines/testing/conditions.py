"""Which conditions and parameters an engine has, and that it refuses others before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.engines.contract import Built, Condition, Engine, Workload
from burnish.engines.testing.base import Contract, PlainBench, state_of
from burnish.workload import loads


class ConditionContract(Contract):
    """The usual condition can be had, and nonsense is refused before anything is measured."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """A scratch folder."""
        place = tmp_path / "examine"
        place.mkdir(mode=0o700)
        return place

    def test_the_usual_condition_is_ready_each_time(self, engine: Engine, bench: PlainBench, tmp_path: Path) -> None:
        """A run that is resumed asks again."""
        assert engine.ready(Condition(), tmp_path, bench) == engine.ready(Condition(), tmp_path, bench)

    def test_examining_leaves_the_data_alone(
        self,
        engine: Engine,
        built: Built,
        workload: Workload,
        dataset: Path | None,
        place: Path,
        bench: PlainBench,
    ) -> None:
        """Warnings are lines."""
        before = state_of(dataset) if dataset else {}
        for line in engine.examine(built, workload, Condition(), dataset, place, bench):
            assert line
            assert "\n" not in line
        assert (state_of(dataset) if dataset else {}) == before

    def test_a_setting_that_there_is_none_of_is_refused(
        self, engine: Engine, built: Built, workload: Workload, place: Path, bench: PlainBench, tmp_path: Path
    ) -> None:
        """When it is asked for, or when the server is there to be asked."""
        nonsense = Condition(settings=(("no_such_setting_of_any_server", "1"),))
        with pytest.raises(UserError) as caught:
            engine.examine(built, workload, engine.ready(nonsense, tmp_path, bench), None, place, bench)
        assert "\n" not in str(caught.value)

    def test_the_known_difference_can_be_had(self, engine: Engine, bench: PlainBench, tmp_path: Path) -> None:
        """`different` in `engine.toml`: a calibration runs it."""
        known = engine.spec.different
        if known is None or not known.settings:
            pytest.skip("no known difference, or one by its recipe")
        assert engine.ready(Condition(settings=known.settings), tmp_path, bench).settings

    def test_a_parameter_that_there_is_none_of_is_refused(
        self, engine: Engine, workload: Workload, bench: PlainBench
    ) -> None:
        """With the load's own parameters as they are."""
        engine.loads.checked(workload, bench)
        odd = loads.applied(workload, loads.asked(f"{workload.entry}:no-such-parameter=1"))
        with pytest.raises(UserError):
            engine.loads.checked(odd, bench)
