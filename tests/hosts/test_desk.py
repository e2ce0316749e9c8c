"""A worker's desk: what a host that is at work answers at once, and what it does one after the other."""

from __future__ import annotations

import asyncio

import pytest

from burnish.hosts import desk as desks
from burnish.hosts.carried import Carried
from burnish.hosts.desk import Desk, perform
from burnish.hosts.dispatch import Work
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.units import Survey


def job(key: str, work: Work = Work.SURVEY) -> Job:
    return Job(key, work, f"{work} of x", Carried((), {}))


def served(desk: Desk, asked: Job, answer: Answer) -> Answer:
    """What a job is answered by a desk whose main thread has nothing else to do."""
    future = desk.ask(asked)
    assert desk.serve(lambda _: answer)
    return future.result()


def test_a_host_at_work_says_at_once_how_it_would_build_and_an_idle_one_looks_again() -> None:
    desk = Desk()
    served(desk, job("survey-run-a"), Answer(Survey(bench=1.0)))
    said: list[Answer] = []

    def build(_: Job) -> Answer:
        assert desk.doing == "build-unit"
        said.append(desk.ask(job("survey-run-a")).result())
        return Answer()

    desk.ask(job("build-unit", Work.BUILD))
    assert desk.serve(build)
    assert said == [Answer(Survey(bench=1.0))]
    assert desk.doing == ""
    assert served(desk, job("survey-run-a"), Answer(Survey(bench=2.0))) == Answer(Survey(bench=2.0))


def test_an_answer_comes_though_who_asked_first_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection breaks, and its event loop ends; the job goes on, and is asked for again."""
    monkeypatch.setattr(desks, "desk", desk := Desk())

    async def gone() -> None:
        asking = asyncio.create_task(perform(job("bench-run-a", Work.BENCH)))
        await asyncio.sleep(0)
        asking.cancel()

    asyncio.run(gone())

    async def again() -> Answer:
        asking = asyncio.create_task(perform(job("bench-run-a", Work.BENCH)))
        await asyncio.sleep(0)
        assert desk.serve(lambda _: Answer(run="measured"))
        return await asking

    assert asyncio.run(again()).run == "measured"
