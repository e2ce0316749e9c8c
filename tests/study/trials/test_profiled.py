"""Of which kind a cell is, by its sides' profiles, its design and its load, from what a record says of them."""

from __future__ import annotations

from typing import Any

from burnish.model.cell import BuildId, CellId
from burnish.model.sittings import SpreadKind
from burnish.model.workload import Design, Workload
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.trials import StoppingRule, TrialsPlanned
from burnish.study.trials.profiled import Profiles


def made(name: str, profile: str | None, replicate: int = 0) -> BuildMade:
    about: dict[str, Any] = {"profile": profile}
    return BuildMade(BuildId(name, replicate), f"key-{name}-{replicate}", about)


PROFILES = Profiles(
    [
        made("baseline", None),
        made("o3", None),
        made("pgo", "p"),
        made("pgo-strip", "p"),
        made("pgo-bolt", "b"),
        made("other-pgo", "q"),
        BuildMade(BuildId("silent"), "key-silent-0", {}),
    ],
    [ProgramFound(BuildId("release"), "/usr/sbin/server", "digest")],
    [
        TrialsPlanned(
            cells=(),
            rule=StoppingRule(12),
            core_sets=(),
            workloads={
                name: Workload(name, "engine", "a reason", "program", writes=writes)
                for name, writes in (("load", False), ("commits", True))
            },
        )
    ],
)


def differ(candidate: str, base: str = "", **builds: str) -> bool | None:
    return PROFILES.differ(CellId(candidate, "load", base=base), builds)


def test_a_profile_of_one_side_is_one_that_the_other_has_not() -> None:
    assert differ("pgo") is True
    assert differ("baseline", base="pgo") is True
    assert differ("o3") is False
    assert differ("pgo-bolt", base="pgo") is True, "that of BOLT"
    assert differ("other-pgo", base="pgo") is True, "trained otherwise"
    assert differ("pgo-strip", base="pgo") is False, "both have the same"


def test_of_programs_and_builds_without_a_word_nothing_is_known() -> None:
    assert differ("release") is None
    assert differ("silent") is None
    assert differ("absent") is None
    assert differ("release", base="release") is False, "but a program has the profile of itself"


def test_a_start_names_its_builds() -> None:
    assert differ("name", a="key-baseline-0", b="key-pgo-0") is True
    assert differ("name", a="key-baseline-0", b="key-o3-0") is False
    assert differ("name", a="digest", b="digest") is False
    assert differ("o3", a="key-baseline-0", b="another link of it") is False, "by its name"
    assert differ("pgo", a="key-baseline-7", b="key-pgo-7") is True, "a replicate is made as its variant"


def test_without_a_profile_only_duets_are_known_to_move_little() -> None:
    assert PROFILES.kind(CellId("o3", "load"), Design.DUET) is SpreadKind.ALIKE
    assert PROFILES.kind(CellId("o3", "load"), Design.INTERLEAVED) is None
    assert PROFILES.kind(CellId("o3", "load"), Design.SOLO) is None
    assert PROFILES.kind(CellId("pgo", "load"), Design.INTERLEAVED) is SpreadKind.PROFILED
    assert PROFILES.kind(CellId("release", "load"), Design.DUET) is None


def test_in_turn_on_a_load_that_commits_ratios_move_most_unless_a_profile_is_compared() -> None:
    assert PROFILES.kind(CellId("o3", "commits"), Design.INTERLEAVED) is SpreadKind.COMMITTING
    assert PROFILES.kind(CellId("o3", "commits"), Design.SOLO) is SpreadKind.COMMITTING
    assert PROFILES.kind(CellId("release", "commits"), Design.INTERLEAVED) is SpreadKind.COMMITTING, "nothing is known"
    assert PROFILES.kind(CellId("o3", "commits"), Design.DUET) is SpreadKind.ALIKE
    assert PROFILES.kind(CellId("pgo", "commits"), Design.INTERLEAVED) is SpreadKind.PROFILED
