"""Documents about runs: results, plans, records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.model.quantity import HEADLINES, QUANTITIES
from burnish.record.costs import Figure
from burnish.record.events.verdicts import FamilyMember, Interval, SideSummary
from burnish.record.live import Live
from burnish.report.analysis.loads import LoadsMean
from burnish.report.analysis.ranking import Ranking
from burnish.report.analysis.suites import SuiteTotal
from burnish.report.answer.checked import Check, Outcome
from burnish.report.answer.points import Point
from burnish.report.bundled.table import Line, StudyTable
from burnish.report.result import Result, Row
from burnish.report.sections.kept import RunLine
from burnish.report.values.documents.document import Document, Fields, Texts, Values, of
from burnish.report.values.schema import Many, Maybe, Object, declared
from burnish.statistics.means import Ratio
from burnish.study.planning.plan import INSIDE, Plan, Step
from burnish.study.trials.board import BoardRow

_QUANTITIES: Fields = {
    **{
        quantity.name: (Interval | None, f"Ratio of {quantity.title}, above 1 if the candidate is better.")
        for quantity in QUANTITIES
    },
    "verdicts": (Mapping[str, str], "By quantity, its own verdict where it has one."),
}

_MEMBER = Object("A verdict corrected for all comparisons.", of=FamilyMember, without=("cell",), optional=("interval",))

_ROW = Object(
    "A candidate on a load.",
    {
        **_QUANTITIES,
        "sides": (Mapping[str, SideSummary | None], "Medians of each side."),
        "together": (Maybe(_MEMBER), "The verdict corrected for all comparisons; null if it is alone."),
        "sensitivity": (tuple[Values, ...], "The ratio by other estimators of the centre, each with its name."),
    },
    of=Row,
    without=("quantities",),
)

_LINE = Object("A comparison.", _QUANTITIES, of=Line, without=("quantities",))

_PATCHED = Object(
    "A series of patches.",
    {
        "recipe": (str, "The variant whose recipe all builds have."),
        "patches": (tuple[Values, ...], "The patches: name, reason, what each needs."),
        "builds": (tuple[Values, ...], "The builds with their patches."),
        "left_out": (tuple[tuple[str, str, str], ...], "Patches that were left out: patch, kind, reason."),
        "adds": (tuple[Values, ...], "What each patch adds to the others and to those that it needs, on each load."),
        "symbols": (tuple[Values, ...], "Functions that patches change, with their share of the CPU time."),
    },
)

_RUN = Object(
    "A run: everything in its record, and what is concluded from it.",
    {
        "rows": (Many(_ROW), "The cells in order."),
        "confirmations": (Many(_ROW), "The winner's cells on fresh starts."),
        "relinked": (Many(_ROW), "Small differences in other link orders."),
        "shipped": (
            Maybe(
                Object(
                    "The table of a bundled study; with the means only if the publication states any.",
                    {"lines": (Many(_LINE), "Its comparisons.")},
                    of=StudyTable,
                    optional=("means",),
                )
            ),
            "The table of a bundled study; null of other runs.",
        ),
        "sentences": (Texts, "What the report concludes, in words."),
        "ranking": (
            Maybe(Object("", {"tied": (Texts, "The recommended one, and those tied with the best.")}, of=Ranking)),
            "The candidates that are faster on every load; null without one.",
        ),
        "nothing_measured": (bool, "Whether it ended without any figure."),
        "explanation": (Values | None, "Of `why`: functions with their costs in CPU seconds per unit of work."),
        "patched": (Maybe(_PATCHED), "Of `patch`: the series; null of other runs."),
        "suites": (
            Many(Object(
                "A candidate on a suite of tests.",
                {quantity.name: (Ratio | None, f"Geometric mean of {quantity.title}.") for quantity in HEADLINES},
                of=SuiteTotal,
                without=("means",),
            )),
            "Means over suites of tests.",
        ),
        "means": (
            Many(Object("A candidate over all loads.", {"means": (Mapping[str, Ratio], "By quantity.")}, of=LoadsMean)),
            "Means over loads; only where there are three or more.",
        ),
        "deployment": (Values, "Ways to deploy the recommended build; only where some were measured."),
        "searched": (Values, "How a search was asked and what it came to; only where there was one."),
    },
    of=Result,
    optional=("means", "deployment", "searched", "pending", "quotients"),
)  # fmt: skip

_VERIFIED = replace(
    _RUN,
    what="A package that was checked, and the run that measured its program.",
    own={
        **_RUN.own,
        "checked": (Texts, "What holds of the package."),
        "verified": (
            tuple[Values, ...],
            "By load, its study's ratio and the one here, and whether they agree.",
        ),
    },
)

_FIGURES = ("steps_ahead", "full_compiles", "seconds", "kept_bytes", "tree_bytes", "peak_bytes")

_PLAN: Fields = {
    "steps": (Many(Object("A step.", of=Step, without=INSIDE)), "The steps in their order."),
    "totals": (
        Object("", {name: (int if name.startswith(("steps", "full")) else Figure | None, "") for name in _FIGURES}),
        "All steps that are not done yet, together.",
    ),
    "search": (Values, "What a search is expected to do after its known-good builds; only where there is one."),
}

_PLANNED = Object("What would be done.", _PLAN, of=Plan, without=("relink", "reread", "guessed"), optional=("search",))

_WRITTEN = of(
    "A file that was written.",
    file=(str, "Its path."), events=(int, "Number of events in it."), bytes=(int, "Its size."),
)  # fmt: skip

_LIVE = Object("", {"running": (bool, "Whether its process is still there.")}, of=Live)

_COMPARISON = of(
    "A comparison of a bundled study.",
    key=(str, "Identifies it."),
    row=(str, "The row's name."),
    title=(str, "The row's title."),
    row_reason=(str, "Why the row is there."),
    published=(str | None, "The published figure in words."),
    base=(str, "What the candidate is compared with."),
    candidate=(str, "The candidate."),
    workload=(str | None, "The load."),
    reason=(str | None, "Why it is not measured; null if it is."),
    shows=(str, "What the host can show about the row's patch."),
)

DOCUMENTS: Mapping[str, Document] = {
    "run": Document("show, tune, compare, patch, calibrate, why, study run, resume, report --format json", _RUN),
    "verified": Document("verify --measure", _VERIFIED),
    "reports": Document(
        "report --format json, of several runs; verbs with --hosts, whose hosts' runs are not merged",
        of("Several runs.", runs=(Many(_RUN), "Each as the document `run`, without a version of its own.")),
    ),
    "plan": Document("plan, and --dry-run of verbs that measure", _PLANNED),
    "study-plan": Document(
        "study show, study run --dry-run",
        of(
            "What a bundled study would do.",
            study=(str, "Its name."),
            title=(str, "Its title."),
            engine=(str, "The engine."),
            cells=(int, "Number of cells that are measured."),
            seconds=(float, "Rough seconds of all that is ahead, without measuring winners again."),
            kept_bytes=(float, "Bytes that it leaves in the store."),
            tree_bytes=(float, "Bytes of build trees while it builds."),
            rows=(tuple[Values, ...], "What each row costs, in the order in which they are run."),
            missing=(Mapping[str, str], "By comparison, why it can't be measured."),
            cut=(Mapping[str, str], "By comparison, why it is left out."),
            extras=(tuple[Values, ...], "What is done beyond the rows, in the time that they leave."),
            extras_left_out=(Mapping[str, str], "By extra, why it is not done."),
            again=(Values | None, "What measuring the winners again costs at most; null if that is not planned."),
            placements=(Texts, "What is measured in another placement than a duet's."),
            layouts=(int, "Link orders of both sides by which small differences are tested; 0: none."),
            comparisons=(Many(_COMPARISON), "All its comparisons."),
        ),
    ),
    "runs": Document("runs", declared(RunLine), listed=True),
    "watch": Document(
        "watch",
        of(
            "A run that is going on.",
            run=(str, "Its name."),
            finished=(bool, "Whether it is finished."),
            now=(Maybe(_LIVE), "What it does now; null before it began."),
            cells=(tuple[BoardRow, ...], "Its cells so far."),
        ),
    ),
    "history": Document("history", declared(Point), listed=True),
    "check": Document(
        "check",
        Object(
            "Two programs against a bound.",
            {
                "outcome": (Outcome, "Of all loads together; the exit code says the same."),
                "sentence": (str, "The outcome in words."),
            },
            of=Check,
        ),
    ),
    "report": Document(
        "report",
        of(
            "A report that was written.",
            file=(str, "Its path."),
            format=(str, "Its format."),
            runs=(Texts, "The runs in it."),
            bytes=(int, "Its size."),
        ),
    ),
    "export": Document("record export, record merge", _WRITTEN),
    "import": Document(
        "record import",
        of(
            "A record that was taken in.",
            study=(str, "The run's name."),
            folder=(str, "Its folder."),
            made=(bool, "Whether it is new; false if the same record was here already."),
        ),
    ),
    "render": Document(
        "record render",
        of(
            "Reports beside records.",
            files=(int, "Number of files."),
            different=(
                Many(of("", file=(str, "The file."), line=(int, "First line that differs; 0: no such file."))),
                "Those that are not as their record gives them.",
            ),
        ),
    ),
}
