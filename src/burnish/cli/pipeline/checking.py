"""The verb for pipelines: two programs against a bound, with an exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import typer

from burnish.base import paths
from burnish.base.files import check_folder, write_out
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import asker, print_document, print_json, progress, verb
from burnish.cli.declaration import Argument, Option
from burnish.cli.measuring import draw_board, named_program
from burnish.cli.results import result_of
from burnish.record.events.verdicts import VerdictReached
from burnish.record.record import Record
from burnish.report.answer import check as report
from burnish.report.answer.checked import Outcome, check
from burnish.report.render.junit import junit
from burnish.report.render.markdown import markdown as as_markdown
from burnish.study import runner
from burnish.study.constructors.compare import compare_study
from burnish.study.planning.minutes import starts_within
from burnish.study.request.options import Options
from burnish.study.study import Confirmation
from burnish.study.trials.starts import cell_starts

EXIT_CODES: Mapping[Outcome, int] = {Outcome.PASSED: 0, Outcome.INVALID: 1, Outcome.SLOWER: 3, Outcome.UNDECIDED: 4}

FAIL_IF = Option(
    "slower", ("--fail-if",), "The loss that fails: B does that much less work for the same server CPU, or time.",
    readers.slower, "'slower>N%'", default="slower>1%", common=True, panel="How exactly",
)  # fmt: skip
MINUTES = Option(
    "minutes", ("--minutes",), "Wall time for the trials; it decides the number of starts in advance.",
    readers.number(0.1, 600), "N", default="10", common=True, panel="Machine",
)  # fmt: skip
COMMENT = replace(o.MARKDOWN, field="comment", reader=readers.path, value="FILE")
JUNIT = Option(
    "xml", ("--junit",), "File for the outcome as JUnit XML, a test for each load.",
    readers.path, "FILE", common=True, panel="Output",
)  # fmt: skip


@verb(
    "check",
    Argument("first", "A", "The server program as it was: PATH, or NAME=PATH to name it."),
    Argument("second", "B", "The server program to check, as A."),
    replace(o.ENGINE_OPTION, required=True),
    FAIL_IF,
    MINUTES,
    *o.LOAD,
    *o.DEPLOYMENT,
    o.PAIRS,
    o.DESIGN,
    o.PLACEMENT,
    o.FORCE,
    o.SEED,
    o.YES,
    o.QUIET,
    COMMENT,
    JUNIT,
    o.JSON,
    example="burnish check old=/usr/sbin/{server} new=./{server} --engine {engine} --fail-if 'slower>1%' --minutes 10",
    resumes=True,
)
def check_verb(
    first: str,
    second: str,
    engine: str,
    slower: float,
    minutes: float,
    comment: Path | None,
    xml: Path | None,
    options: Options,
    as_json: bool,
) -> None:
    """Fail a pipeline if a server program got slower, proved.

    Both programs are measured side by side. It exits with 0 if B is proved to be within the bound on every load, with 3
    if it is proved to be slower on one, with 4 if the time was too short to tell.
    """
    for file in filter(None, (comment, xml)):
        check_folder(file)
    home = paths.home()
    sides = [named_program("A", first), named_program("B", second)]
    options = replace(options, labels=tuple(name for name, _ in sides))
    programs = [path for _, path in sides]
    starts = starts_within(compare_study(engine, programs, options), options, 60 * minutes)
    options = replace(options, starts=starts)
    # Every start counts, however many loads there are: none is picked, so that none is measured again.
    study = replace(compare_study(engine, programs, options), confirmation=Confirmation(more_than=None))
    folder = runner.run(home, study, options, progress, asker(), draw=draw_board)
    found = check(result_of(folder), _readings(folder), slower, 60 * minutes)
    content = report.document(found)
    if as_json:
        print_json("check", {**asdict(found), "outcome": found.outcome, "sentence": found.sentence})
    else:
        print_document(content)
    if comment is not None:
        write_out(comment, as_markdown(content))
    if xml is not None:
        write_out(xml, junit(found))
    if EXIT_CODES[found.outcome]:
        raise typer.Exit(EXIT_CODES[found.outcome])


def _readings(folder: Path) -> Mapping[str, Sequence[float]]:
    """By load, the log-ratio of the headline quantity of each valid start; not of fresh starts after the verdict."""
    with closing(Record(folder)) as record:
        reached = {recorded.event.cell: recorded.event.headline for recorded in record.events(VerdictReached)}
        claims = {cell: headline for cell, headline in reached.items() if not cell.is_again}
        return {cell.workload: cell_starts(record, cell).of(headline) for cell, headline in claims.items()}
