"""Which task runs where: pure, on values."""

from __future__ import annotations

import pytest

from burnish.hosts.dispatch import Dispatcher, Given, Task, Work
from burnish.hosts.makespan import makespan


def build(key: str, *able: str, after: tuple[str, ...] = (), seconds: float = 1.0) -> Task:
    return Task(key, Work.BUILD, frozenset(able), after, seconds)


def bench(key: str, host: str, after: tuple[str, ...] = (), seconds: float = 1.0) -> Task:
    return Task(key, Work.BENCH, frozenset({host}), after, seconds)


def dispatcher(*hosts: str, tasks: list[Task], machine: str = "") -> Dispatcher:
    made = Dispatcher()
    for host in hosts:
        made.join(host, machine)
    made.add(tasks)
    return made


def test_the_longest_way_to_the_end_goes_first() -> None:
    tasks = [build("short", "a"), build("long", "a"), bench("trials", "a", ("long",), seconds=60)]
    assert dispatcher("a", tasks=tasks).next() == [Given("long", "a")]


def test_builds_go_to_all_hosts_that_can_make_them() -> None:
    tasks = [build(f"build {n}", "a", "b") for n in range(3)]
    made = dispatcher("a", "b", "c", tasks=tasks)
    assert {given.host for given in made.next()} == {"a", "b"}
    assert made.next() == [], "each does one at a time, and c can't make any"
    made.done("build 0")
    assert len(made.next()) == 1


def test_a_bench_waits_for_its_builds_and_stays_on_its_host() -> None:
    made = dispatcher("a", "b", tasks=[build("build", "b"), bench("trials of a", "a", ("build",))])
    assert made.next() == [Given("build", "b")]
    made.done("build")
    assert made.next() == [Given("trials of a", "a")]


def test_nothing_runs_beside_a_bench_on_its_machine() -> None:
    tasks = [bench("of a", "a"), bench("of b", "b"), build("build", "a", "b", "c", seconds=0.5)]
    made = Dispatcher()
    made.join("a", "one machine")
    made.join("b", "one machine")
    made.join("c", "another")
    made.add(tasks)
    first = {given.key: given.host for given in made.next()}
    assert first.pop("build") == "c", "a build goes where no bench waits"
    assert len(first) == 1
    (begun,) = first
    made.done(begun)
    assert [given.key for given in made.next()] == [{"of a": "of b", "of b": "of a"}[begun]]


def test_a_lost_host_gives_its_build_away_and_keeps_its_bench() -> None:
    made = dispatcher("a", "b", tasks=[build("build", "a", "b", seconds=9), bench("trials", "a")])
    given = {each.key: each.host for each in made.next()}
    assert given["build"] == "b", "a has trials of its own to do"
    made.leave("b")
    made.leave("a")
    made.join("b")
    assert made.next() == [Given("build", "b")]
    made.join("a")
    assert made.next() == [Given("trials", "a")]


def test_what_is_done_twice_counts_once() -> None:
    made = dispatcher("a", "b", tasks=[build("build", "a", "b"), bench("trials", "b", ("build",))])
    (given,) = made.next()
    made.leave(given.host)
    made.join(given.host)
    made.next()
    made.done("build")
    made.done("build")
    assert made.open == 1
    assert made.next() == [Given("trials", "b")]


def test_a_build_that_ends_every_host_is_given_up_and_a_bench_is_not() -> None:
    made = dispatcher("a", tasks=[build("deadly", "a", seconds=9), bench("trials", "a")])
    for _ in range(3):
        assert made.next() == [Given("deadly", "a")]
        made.leave("a")
        made.join("a")
    assert made.lost() == ["deadly"]
    for _ in range(5):
        assert made.next() == [Given("trials", "a")]
        made.leave("a")
        made.join("a")


def test_a_build_is_not_given_up_for_lost_connections() -> None:
    made = dispatcher("a", tasks=[build("long", "a")])
    for _ in range(5):
        assert made.next() == [Given("long", "a")]
        assert made.leave("a", counted=False) == "long"
        made.join("a")
    assert made.lost() == []


def test_a_task_that_no_host_can_do_is_named_after_a_time() -> None:
    made = dispatcher("a", tasks=[build("impossible", "gone"), bench("after it", "a", ("impossible",))])
    assert made.next(0.0) == []
    assert made.stranded(59.0, 60.0) == []
    assert made.stranded(60.0, 60.0) == ["impossible"], "what waits for it does not wait for a host"


def test_a_task_waits_anew_once_the_last_host_that_can_do_it_has_gone() -> None:
    """However long it has been ready: the host did others meanwhile, and its scheduler may be back in a moment."""
    made = dispatcher("a", "b", tasks=[build("first", "a", seconds=9), build("second", "a"), build("both", "a", "b")])
    made.next(0.0)
    made.leave("a", 1000.0)
    assert made.stranded(1059.0, 60.0) == []
    assert sorted(made.stranded(1060.0, 60.0)) == ["first", "second"]


def test_a_host_that_could_not_do_a_task_rests_and_another_gets_it() -> None:
    made = dispatcher("a", "b", tasks=[build("build", "a", "b", seconds=9), build("other", "a")])
    given = {each.key: each.host for each in made.next(0.0)}
    first = given["build"]
    made.again("build", 1.0, rest=60.0)
    other = {"a": "b", "b": "a"}[first]
    if other in given.values():
        made.done("other", 1.0)
    assert Given("build", other) in made.next(1.0)
    made.again("build", 2.0, rest=60.0)
    assert made.next(3.0) == []
    assert len(made.next(62.0)) >= 1


def test_a_known_task_is_not_added_again_and_a_circle_is_an_error() -> None:
    made = dispatcher("a", tasks=[build("build", "a")])
    made.next()
    made.done("build")
    made.add([build("build", "a"), bench("trials", "a", ("build",))])
    assert made.next() == [Given("trials", "a")]
    with pytest.raises(ValueError, match="circle"):
        dispatcher("a", tasks=[build("x", "a", after=("y",)), build("y", "a", after=("x",))]).next()


def test_six_builds_on_two_hosts_take_half_the_time() -> None:
    """A ladder of six builds with a bench after each: two builders and a bench host against one that does it all."""

    def ladder(*able: str, at: str) -> list[Task]:
        builds = [build(f"build {n}", *able, seconds=60) for n in range(6)]
        return [*builds, bench("trials", at, tuple(task.key for task in builds), seconds=60)]

    alone = makespan(ladder("a", at="a"), [("a", "")])
    three = makespan(ladder("a", "b", at="c"), [(name, "") for name in "abc"])
    assert alone == 7 * 60
    assert three / alone <= 0.6


def test_what_a_host_has_begun_unasked_is_taken_over() -> None:
    made = dispatcher("a", "b", tasks=[build("build", "a", "b"), bench("trials", "a", ("build",))])
    assert not made.begun("trials", "a"), "it waits for its build"
    assert made.begun("build", "a")
    assert made.on("build") == "a"
    assert not made.begun("build", "b"), "one does it already"
    assert made.next() == []
    made.again("build")
    assert made.next() == [Given("build", "a")], "it can be given again"


def test_a_host_that_is_at_work_for_others_gets_questions_only() -> None:
    tasks = [build("build", "a", "b"), Task("survey", Work.SURVEY, frozenset({"a"})), bench("trials", "b")]
    made = Dispatcher()
    for host in "ab":
        made.join(host, "one machine")
    made.add(tasks)
    assert made.next(0.0, {"a": Work.BENCH}) == [Given("survey", "a")], "the other's trials have the machine"
    made.done("survey")
    assert made.next(0.0, {"a": Work.BUILD}) == [Given("build", "b")], "no trials beside a build"
    made.done("build")
    assert made.next() == [Given("trials", "b")]


def test_nobody_does_what_nobody_knows() -> None:
    assert Dispatcher().on("build-of-another-study") is None
