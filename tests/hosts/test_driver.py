"""A study as the driver sees it: hosts that answer at once, get lost, fail; and how builds are divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from burnish import __version__
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.processor import Processor
from burnish.builds import stages
from burnish.builds.stages import Compile
from burnish.hosts.asked import Asked
from burnish.hosts.carried import Carried
from burnish.hosts.desk import perform
from burnish.hosts.dispatch import Work
from burnish.hosts.driver import Driver
from burnish.hosts.fleet import Fleet
from burnish.hosts.host import Chosen, Host
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.kinds import LEVELS
from burnish.hosts.units import Survey, divided, refusals, to_measure, units_of
from burnish.model.recipe import Recipe, Variant
from burnish.study.builds.resolving import Chain
from chains import CLANG, GCC, chain, toolchain

NATIVE = Recipe(c=("-march=native",))


def chain_of(name: str, recipe: Recipe = Recipe(), **how: Any) -> Chain:  # noqa: B008 - frozen
    return Chain(Variant(name, recipe, "a reason that is long enough"), chain(recipe, name, **how))


def chains_with(major: int = 12) -> dict[str, Chain]:
    tools = toolchain("gcc", major)
    return {
        "baseline": chain_of("baseline", tools=tools, with_tools=True),
        "gcc-pgo": chain_of("gcc-pgo", Recipe(pgo=True), tools=tools),
        "native": chain_of("native", NATIVE, tools=tools),
    }


def host(name: str, **about: Any) -> Host:
    return replace(
        Host(name, machine=name, boot=name, kind="zen5", architecture="x86_64", version=__version__, address=name),
        **about,
    )


@dataclass
class Play:
    """Hosts that answer as told; stands for the scheduler.

    Attributes:
        there: the hosts, which a test may change on the way.
        answer: what a host answers to a job; an exception: what Dask says instead; None: nothing yet.
        jobs: what was asked of whom.
    """

    there: list[Host]
    answer: Callable[[str, Job], Answer | Exception | None]
    broken: bool = False
    jobs: list[tuple[str, Job]] = field(default_factory=list)

    def hosts(self) -> list[dict[str, Any]]:
        return [one.as_dict() for one in self.there]

    def send(self, function: object, argument: Job, *, key: str, worker: str, alone: bool) -> Future[Answer]:
        assert function is not None
        assert key.startswith(argument.key)
        assert alone == (argument.work is not Work.SURVEY), "a host at work is asked how it would build"
        self.jobs.append((worker, argument))
        future: Future[Answer] = Future()
        answer = self.answer(worker, argument)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        elif answer is not None:
            future.set_result(answer)
        return future

    def close(self) -> None:
        self.broken = True

    def of(self, work: Work) -> list[tuple[str, str]]:
        """Who was asked for what: host and name of the build, or title."""
        return [(name, job.unit.name if job.unit else job.title) for name, job in self.jobs if job.work is work]


def driver_of(play: Play, chosen: Chosen = Chosen(), **asked: Any) -> tuple[Driver, list[str]]:  # noqa: B008
    said: list[str] = []

    def connect() -> Play:
        play.broken = False
        return play

    request = Asked("run", Carried((), {}), "tune fake", chosen, store="shared", **asked)
    fleet = Fleet(connect, "tls://here", said.append, patience=0.0)
    return Driver(request, fleet, perform, turn_s=0.0, rest_s=0.0), said


def surveyed(surveys: Mapping[str, Survey]) -> Callable[[str, Job], Answer]:
    def answer(name: str, job: Job) -> Answer:
        if job.work is Work.SURVEY:
            return Answer(surveys[name])
        return Answer(record=name.encode()) if job.work is Work.BENCH else Answer()

    return answer


def test_every_build_is_made_once_and_measured_on_every_host() -> None:
    play = Play([host("a"), host("b")], surveyed({name: Survey(chains_with()) for name in "ab"}))
    driver, said = driver_of(play)
    outcome = driver.run()
    assert outcome.records == {"a": b"a", "b": b"b"}
    keys = [key for _, job in play.jobs if job.unit for key in job.unit.keys]
    assert len(keys) == len(set(keys))
    benches = {name: job for name, job in play.jobs if job.work is Work.BENCH}
    assert benches.keys() == {"a", "b"}
    assert all(list(job.chains) == ["baseline", "gcc-pgo", "native"] for job in benches.values())
    assert said[0] == "trials on a (zen5), b (zen5)"


def test_who_is_to_measure_is_known_before_anything_is_done() -> None:
    """A call that is killed leaves it to the next one, in which a host may be off."""
    play = Play([host("a"), host("b"), host("c", benches=False)], surveyed({name: Survey() for name in "abc"}))
    driver, _ = driver_of(play)
    noted: list[tuple[int, list[str]]] = []
    driver.take_note = lambda names: noted.append((len(play.jobs), list(names)))
    driver.run()
    assert noted == [(0, ["a", "b"])]


def test_a_host_without_the_compiler_measures_what_others_build() -> None:
    surveys = {"a": Survey(chains_with()), "b": Survey(why_not="no compiler 'gcc' on this machine")}
    play = Play([host("a"), host("b")], surveyed(surveys))
    outcome = driver_of(play)[0].run()
    assert outcome.records.keys() == {"a", "b"}
    assert {name for name, _ in play.of(Work.BUILD)} == {"a"}
    b = next(job for name, job in play.jobs if name == "b" and job.work is Work.BENCH)
    assert b.chains["gcc-pgo"].missing is None
    assert b.chains["native"].missing == "it is built for the host's own processor, and this host can't build"


def test_where_nobody_has_the_compiler_a_line_says_so() -> None:
    why = "no compiler 'gcc' on this machine; apt install gcc"
    play = Play([host("a"), host("b")], surveyed({name: Survey(why_not=why) for name in "ab"}))
    driver, said = driver_of(play)
    outcome = driver.run()
    assert outcome.records == {}
    assert outcome.failed == {"a": why, "b": why}
    assert f"a: {why}" in said


def test_a_build_that_fails_is_left_out_everywhere_with_its_reason() -> None:
    ready = surveyed({name: Survey(chains_with()) for name in "ab"})

    def answer(name: str, job: Job) -> Answer:
        fails = job.unit is not None and job.unit.name == "gcc-pgo"
        return Answer(problem="exit code 1\nits log") if fails else ready(name, job)

    play = Play([host("a"), host("b")], answer)
    driver, said = driver_of(play)
    outcome = driver.run()
    assert outcome.records.keys() == {"a", "b"}
    assert all(job.chains["gcc-pgo"].missing == "exit code 1" for _, job in play.jobs if job.work is Work.BENCH)
    assert said.count("gcc-pgo: not built: exit code 1") == 1
    assert len([name for _, name in play.of(Work.BUILD) if name == "gcc-pgo"]) == 1, "what needs it is not tried"


def test_a_worker_that_is_lost_is_asked_again_when_it_is_back() -> None:
    ready = surveyed({"a": Survey(chains_with())})
    lost = []

    def answer(name: str, job: Job) -> Answer | Exception:
        if job.work is Work.BENCH and len(lost) < 2:
            lost.append(job.key)
            play.there = [host("a", address=f"a{len(lost)}")]
            return RuntimeError("KilledWorker")
        return ready("a", job)

    play = Play([host("a")], answer)
    driver, said = driver_of(play)
    outcome = driver.run()
    assert outcome.records == {"a": b"a"}
    assert len({job.key for _, job in play.jobs if job.work is Work.BENCH}) == 1, "the host knows it by its key"
    assert "a: is back" in said


def test_a_task_that_fails_for_a_reason_that_may_pass_is_tried_again_but_not_for_ever() -> None:
    ready = surveyed({"a": Survey(chains_with())})
    play = Play(
        [host("a")],
        lambda name, job: (
            Answer(problem="the store is away", again=True) if job.work is Work.BENCH else ready(name, job)
        ),
    )
    outcome = driver_of(play)[0].run()
    assert outcome.failed == {"a": "the store is away"}
    assert len(play.of(Work.BENCH)) == 4


def test_an_unwell_host_does_not_use_up_what_another_can_build() -> None:
    """It is idle, so it would be given each build again at once, and every build would end with it."""
    ready = surveyed({name: Survey(chains_with()) for name in "ab"})

    def answer(name: str, job: Job) -> Answer:
        full = name == "a" and job.work is Work.BUILD
        return Answer(problem="/home: No space left on device", again=True) if full else ready(name, job)

    play = Play([host("a", benches=False), host("b")], answer)
    driver, _ = driver_of(play)
    driver.rest_s = 3600.0
    outcome = driver.run()
    assert (outcome.records, outcome.failed) == ({"b": b"b"}, {})
    (bench,) = (job for _, job in play.jobs if job.work is Work.BENCH)
    assert not any(chain.missing for chain in bench.chains.values())


def test_a_host_that_somebody_else_works_on_is_asked_for_longer() -> None:
    ready = surveyed({"a": Survey(chains_with())})
    busy = [Answer(problem="another burnish is building", again=True, busy=True)] * 10

    def answer(name: str, job: Job) -> Answer:
        return busy.pop() if job.work is Work.BUILD and busy else ready(name, job)

    outcome = driver_of(Play([host("a")], answer))[0].run()
    assert (outcome.records, outcome.failed) == ({"a": b"a"}, {})


def test_others_do_not_wait_for_what_a_busy_builder_would_say() -> None:
    ready = surveyed({name: Survey(chains_with()) for name in "ab"})

    def answer(name: str, job: Job) -> Answer:
        busy = name == "a" and job.work is Work.SURVEY
        return Answer(problem="another burnish is building", again=True, busy=True) if busy else ready(name, job)

    play = Play([host("a", benches=False), host("b")], answer)
    driver, _ = driver_of(play)
    driver.rest_s = 3600.0
    assert driver.run().records == {"b": b"b"}
    assert [name for name, job in play.jobs if job.work is Work.SURVEY] == ["a", "b"]


def test_a_host_that_is_away_while_work_is_divided_measures_the_others_builds() -> None:
    ready = surveyed({name: Survey(chains_with()) for name in "ab"})

    def answer(name: str, job: Job) -> Answer:
        if job.work is Work.SURVEY and name == "b":
            play.there = [host("b")]  # a has answered, and boots
        elif job.work is Work.BUILD:
            play.there = [host("a", address="a again"), host("b")]
        return ready(name, job)

    play = Play([host("a"), host("b")], answer)
    driver, _ = driver_of(play)
    outcome = driver.run()
    assert outcome.records == {"a": b"a", "b": b"b"}
    chains = {name: job.chains for name, job in play.jobs if job.work is Work.BENCH}
    assert chains["a"].keys() == chains["b"].keys() == chains_with().keys()


def test_a_host_that_stays_away_is_named_after_a_time() -> None:
    def answer(name: str, job: Job) -> Answer:
        if job.work is Work.SURVEY:
            play.there = [host("a")] if name == "b" else play.there
        return surveyed({name: Survey(chains_with()) for name in "ab"})(name, job)

    play = Play([host("a"), host("b")], answer)
    driver, said = driver_of(play, patience=0.0)
    driver.fleet.look_soon()
    outcome = driver.run()
    assert "a" in outcome.records
    assert play.there == [host("a")]
    assert outcome.records.keys() | outcome.failed.keys() == {"a", "b"}
    assert said


def test_hosts_that_are_not_there_are_named() -> None:
    play = Play([host("a"), host("old", version="0")], surveyed({}))
    driver, said = driver_of(play, Chosen(kinds=("arm64",)), coming=0.0)
    with pytest.raises(UserError, match=r"no host for arm64 came within .*; there are: a \(zen5\)"):
        driver.run()
    assert f"old: refused: it has Burnish 0, here is {__version__}; install {__version__} there" in said


def test_a_scheduler_that_is_not_there_is_an_error() -> None:
    def connect() -> Play:
        raise OSError

    request = Asked("run", Carried((), {}), "tune fake", Chosen())
    with pytest.raises(InfrastructureError, match="no scheduler answers"):
        Driver(request, Fleet(connect, "tls://here", lambda _: None, 0.0), perform).run()


def test_stages_that_variants_share_are_one_unit_and_trainings_need_the_baseline() -> None:
    chains: dict[str, Chain] = {
        "baseline": chain_of("baseline", tools=CLANG, with_tools=True),
        "pgo": chain_of("pgo", Recipe(toolchain="clang", pgo=True), tools=CLANG),
        "pgo-lto": chain_of("pgo-lto", Recipe(toolchain="clang", pgo=True, lto="thin"), tools=CLANG),
    }
    made = units_of(chains, {})
    names = [(unit.name, [kind for kind, _ in unit.stages]) for unit in made]
    assert names == [
        ("baseline", ["builds"]),
        ("pgo", ["builds"]),
        ("pgo", ["profiles"]),
        ("pgo", ["builds"]),
        ("pgo-lto", ["builds"]),
    ]
    baseline, instrumented, shared, first, second = made
    assert instrumented.after == (), "compiled while another host makes the baseline"
    assert shared.after == (baseline.key, instrumented.key), "its tools make the data of the training"
    assert first.after == second.after == (instrumented.key, shared.key)


def test_hosts_with_other_homes_train_what_they_have_compiled() -> None:
    """gcc's programs write their profile below the path at which they were compiled."""
    hosts = [host("a", home="/one"), host("b", home="/two"), host("t", builds=False, home="/three")]
    surveys = {name: Survey(chains_with()) for name in "ab"}
    apart = [unit for unit in divided(hosts, surveys, ["t"]).units.values() if unit.name == "gcc-pgo"]
    assert len(apart) == 1
    alike = [replace(one, home="/one") for one in hosts[:2]]
    together = [unit for unit in divided([*alike, hosts[2]], surveys, ["t"]).units.values() if unit.name == "gcc-pgo"]
    assert len(together) == 2, "compiled while another host makes the baseline"


def test_one_host_says_how_all_of_its_architecture_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release of a compiler makes another build: all hosts measure that of one of them."""
    with monkeypatch.context() as there:
        there.setattr(stages, "this_processor", lambda: Processor("aarch64", "0x41/0xd0c", frozenset()))
        arm = {"baseline": chains_with()["baseline"]}
    newer = chains_with(13)
    hosts = [host("a"), host("b"), host("r", architecture="aarch64"), host("t", builds=False)]
    surveys = {"a": Survey(chains_with()), "b": Survey(newer), "r": Survey(arm), "t": Survey(newer)}
    division = divided(hosts, surveys, ["a", "b", "r", "t"])
    assert division.models == {"x86_64": "a", "aarch64": "r"}
    finals = {
        name: {build: one.final for build, one in made.items() if not one.missing}
        for name, made in division.chains.items()
    }
    assert finals["b"]["gcc-pgo"] == finals["t"]["gcc-pgo"] == finals["a"]["gcc-pgo"]
    assert finals["b"]["native"] == newer["native"].final, "for its own processor"
    assert division.chains["t"]["native"].missing, "it has a compiler, and builds nothing"
    assert not division.chains["t"]["gcc-pgo"].missing
    assert all(division.able.values()), "each step has a host that makes it"
    able = {division.units[key].name: names for key, names in division.able.items()}
    assert able["gcc-pgo"] == {"a"}
    assert finals["r"] == {"baseline": arm["baseline"].final}
    assert finals["r"]["baseline"] != finals["a"]["baseline"], "of one source, one compiler's release and its flags"
    assert {names for key, names in division.able.items() if division.units[key].name == "baseline"} == {
        frozenset({"a"}),
        frozenset({"r"}),
    }


def test_a_host_that_only_measures_fetches_no_instrumented_build() -> None:
    whole = chain_of("gcc-pgo", Recipe(pgo=True))
    short = to_measure(whole)
    assert not any(isinstance(stage, Compile) and stage.instrumented for stage in short.stages)
    assert short.final == whole.final
    assert len(short.stages) == len(whole.stages) - 1


@pytest.mark.parametrize(
    ("needs", "offers", "refused"), [("x86-64-v4", "x86-64-v3", 1), ("x86-64-v2", "x86-64-v3", 0), ("", "", 0)]
)
def test_a_build_that_needs_more_than_a_host_offers_is_not_measured_there(
    needs: str, offers: str, refused: int
) -> None:
    chains = {"baseline": chain_of("baseline", tools=GCC)}
    found = refusals(chains, {chains["baseline"].final: needs}, host("a", level=offers), LEVELS)
    assert len(found) == refused
    assert all(why == "left out: needs x86-64-v4, a has x86-64-v3" for why in found.values())


def keys_of(play: Play, work: Work) -> list[str]:
    return [job.key for _, job in play.jobs if job.work is work]


def test_called_again_it_gives_a_busy_host_the_build_that_it_has_begun() -> None:
    ready = surveyed({name: Survey({"baseline": chains_with()["baseline"]}) for name in "ab"})
    first = Play([host("a"), host("b")], ready)
    driver_of(first)[0].run()
    (begun,) = keys_of(first, Work.BUILD)
    play = Play([host("a", doing=begun), host("b")], ready)
    driver, said = driver_of(play)
    assert driver.run().records.keys() == {"a", "b"}
    assert play.of(Work.BUILD) == [("a", "baseline")], "b does not make it too"
    assert "a: build of baseline for tune fake, which it has begun" in said


def test_a_builder_that_is_at_work_for_another_study_is_not_waited_for() -> None:
    surveys = {"a": Survey(chains_with())}
    play = Play([host("a"), host("b", benches=False, doing="build-another")], surveyed(surveys))

    def answer(name: str, job: Job) -> Answer | Exception | None:
        return None if name == "b" else surveyed(surveys)(name, job)

    play.answer = answer
    driver, said = driver_of(play)
    assert driver.run().records == {"a": b"a"}
    assert "b: is at work for another study; others build" in said
    assert {name for name, _ in play.of(Work.BUILD)} == {"a"}


def test_a_line_says_that_a_host_is_at_the_trials_of_another_study() -> None:
    """They may take hours, in which nothing else would be said."""
    survey = surveyed({"a": Survey(chains_with())})
    play = Play([host("a", doing="bench-another-a")], survey)
    driver, said = driver_of(play)

    def answer(name: str, job: Job) -> Answer | Exception | None:
        play.there = [host("a")]  # which the next look sees
        driver.fleet.look_soon()
        return survey(name, job)

    play.answer = answer
    assert driver.run().records == {"a": b"a"}
    assert said.count("a: is at work for another study; waiting") == 1


def test_the_trials_of_this_study_are_not_those_of_another() -> None:
    ready = surveyed({"a": Survey(chains_with())})
    play = Play([host("a", doing="bench-run-a")], ready)
    driver, said = driver_of(play)

    def answer(name: str, job: Job) -> Answer | Exception | None:
        if job.work is Work.SURVEY:
            play.there = [host("a")]  # they end meanwhile
            driver.fleet.look_soon()
        return ready(name, job)

    play.answer = answer
    assert driver.run().records == {"a": b"a"}
    assert not any("another study" in line for line in said)


def test_a_host_that_was_away_and_went_on_may_be_the_first() -> None:
    """Its build was given to another host meanwhile, which would take for ever."""
    ready = surveyed({name: Survey({"baseline": chains_with()["baseline"]}) for name in "ab"})
    play = Play([host("a"), host("b")], ready)

    def answer(name: str, job: Job) -> Answer | Exception | None:
        if job.work is not Work.BUILD:
            return ready(name, job)
        builders = [one for one, each in play.jobs if each.work is Work.BUILD]
        if len(builders) == 1:  # the connection breaks in its build
            play.there = [one for one in play.there if one.name != name]
            driver.fleet.look_soon()
            return None
        if len(builders) == 2:  # the other has it, and the first is back
            away = builders[0]
            play.there = [*play.there, host(away, doing=job.key, address=f"{away} again")]
            driver.fleet.look_soon()
            return None
        return Answer()

    play.answer = answer
    driver, said = driver_of(play)
    assert driver.run().records.keys() == {"a", "b"}
    builders = [name for name, _ in play.of(Work.BUILD)]
    assert len(set(builders[:2])) == 2
    assert builders[2:] == [f"{builders[0]} again"]
    assert f"{builders[0]}: is at a task that {builders[1]} has been given since; whoever is first counts" in said


def test_when_the_scheduler_is_back_hosts_are_asked_for_what_they_went_on_with() -> None:
    ready = surveyed({"a": Survey(chains_with())})

    def answer(name: str, job: Job) -> Answer | Exception | None:
        if job.work is Work.BENCH and not play.of(Work.BENCH)[1:]:
            play.broken, play.there = True, [host("a", doing=job.key)]
            return None
        return ready(name, job)

    play = Play([host("a")], answer)
    driver, said = driver_of(play)
    assert driver.run().records == {"a": b"a"}
    assert len(keys_of(play, Work.BENCH)) == 2
    assert len(set(keys_of(play, Work.BENCH))) == 1
    assert "the scheduler is gone; waiting for it (what hosts are doing goes on)" in said
    assert "a: trials of tune fake, which it has begun" in said


def test_a_build_outlives_many_lost_connections_to_the_scheduler() -> None:
    """Its host goes on with it: a build of an hour is not given up because the scheduler was started anew."""
    ready = surveyed({"a": Survey({"baseline": chains_with()["baseline"]})})

    def answer(name: str, job: Job) -> Answer | Exception | None:
        if job.work is Work.BUILD and len(play.of(Work.BUILD)) <= 4:
            play.broken = True
            return None
        return ready(name, job)

    play = Play([host("a")], answer)
    driver, said = driver_of(play)
    assert driver.run().records == {"a": b"a"}
    assert len(play.of(Work.BUILD)) == 5
    (bench,) = (job for _, job in play.jobs if job.work is Work.BENCH)
    assert not any(chain.missing for chain in bench.chains.values())
    assert not any("not built" in line for line in said)
