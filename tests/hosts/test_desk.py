"""A worker's desk: what a host that is at work answers at once, and what it does one after the other."""

from __future__ import annotations

import threading

from burnish.hosts.carried import Carried
from burnish.hosts.desk import Desk
from burnish.hosts.dispatch import Work
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.units import Survey


def job(key: str, work: Work = Work.SURVEY) -> Job:
    return Job(key, work, f"{work} of x", Carried((), {}))


def served(desk: Desk, asked: Job, answer: Answer) -> Answer:
    """What a job is answered by a desk whose main thread has nothing else to do."""
    found: list[Answer] = []
    asking = threading.Thread(target=lambda: found.append(desk.ask(asked)))
    asking.start()
    assert desk.serve(lambda _: answer, turn_s=30.0)
    asking.join()
    return found[0]


def test_a_host_at_work_says_at_once_how_it_would_build_and_an_idle_one_looks_again() -> None:
    desk = Desk()
    served(desk, job("survey-run-a"), Answer(Survey(bench=1.0)))
    said: list[Answer] = []

    def build(_: Job) -> Answer:
        assert desk.doing == "build-unit"
        said.append(desk.ask(job("survey-run-a")))
        return Answer()

    asking = threading.Thread(target=desk.ask, args=(job("build-unit", Work.BUILD),))
    asking.start()
    assert desk.serve(build, turn_s=30.0)
    asking.join()
    assert said == [Answer(Survey(bench=1.0))]
    assert desk.doing == ""
    assert served(desk, job("survey-run-a"), Answer(Survey(bench=2.0))) == Answer(Survey(bench=2.0))
