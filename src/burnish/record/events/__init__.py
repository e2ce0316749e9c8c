"""Every kind of event that a record can hold, each declared as a frozen dataclass and listed here by kind."""

from __future__ import annotations

from burnish.record.events import builds, bundled, deployment, patches, searches, study, trials, verdicts, why
from burnish.record.events.base import Event, Recorded, Unknown

EVENTS: tuple[type[Event], ...] = (
    study.StudyBegun,
    study.SessionBegun,
    study.SpreadAssumed,
    study.StudyFinished,
    study.RecordImported,
    study.RecordsMerged,
    study.CommandRun,
    study.PictureDrawn,
    builds.SourceObtained,
    builds.ToolchainsFound,
    builds.BuildsPlanned,
    builds.VariantMissing,
    builds.BuildFailed,
    builds.StageDone,
    builds.ProfileMade,
    builds.BuildMade,
    builds.ProgramFound,
    builds.ProgramExamined,
    builds.MachineCodeChanged,
    builds.ProgramsDiffer,
    builds.GateRun,
    builds.DatasetMade,
    builds.VariantSettled,
    builds.TuningExamined,
    trials.TrialsPlanned,
    trials.FlushesProbed,
    trials.StartBegun,
    trials.PairRead,
    trials.StartDone,
    verdicts.VerdictReached,
    verdicts.FamilyJudged,
    verdicts.HostCalibrated,
    verdicts.DifferenceKnown,
    bundled.TablePlanned,
    bundled.ComparisonTried,
    bundled.ComparisonLeft,
    bundled.ConfirmationBegun,
    bundled.LayoutsBegun,
    bundled.FigureMeasured,
    bundled.ExtrasDone,
    bundled.TimelineRead,
    bundled.ProfileInspected,
    bundled.SearchRound,
    bundled.SearchStopped,
    deployment.DeploymentTried,
    deployment.DeploymentTaken,
    deployment.StartsLimited,
    searches.SearchBegun,
    searches.SearchTold,
    searches.SearchEnded,
    patches.SeriesRead,
    patches.TwinFound,
    patches.BuildExplained,
    why.BuildSampled,
    why.BuildSimulated,
    why.WhyExplained,
    why.MicroBegun,
    why.MicroDone,
)
"""All kinds of event, by subject."""

KINDS: dict[str, type[Event]] = {event.kind(): event for event in EVENTS}
"""Event types by their kind's name in a record."""

__all__ = ["EVENTS", "KINDS", "Event", "Recorded", "Unknown"]
