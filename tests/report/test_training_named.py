"""Every report says what its profiles were trained on, and which builds are measured on a load of their training."""

from __future__ import annotations

from typing import Any

from burnish.report.fold import fold
from burnish.report.sections.builds import trained
from drawn import markdown
from reported import Events, ratio, verdict

TRAINING = [["w", 12.0], ["other", 12.0]]


def tuned(*names: str) -> Events:
    events = Events("baseline", *names).run().contest(*(f"{name} / w" for name in names))
    for name in names:
        events.add("verdict", **verdict(f"{name} / w", "faster", ratio(1.2)))
    return events


def built(events: Events, name: str, *stages: dict[str, Any]) -> Events:
    return events.add("build", variant=name, key=f"{name}-key", about={}, identity={}, stages=list(stages))


def test_a_build_on_a_load_of_its_training_is_marked() -> None:
    events = tuned("pgo", "plain").add("profile", variant="pgo", key="p", about={"training": TRAINING})
    result = fold(events.made)
    assert trained(result) == [
        "trained on w, other: pgo",
        "trained on the load that it is measured on, its best case (docs/BIAS.md): pgo on w",
    ]
    assert "* trained on w, other: pgo" in markdown(result)


def test_training_on_other_loads_is_not_marked() -> None:
    events = tuned("pgo").add("profile", variant="pgo", key="p", about={"training": TRAINING[1:]})
    assert trained(fold(events.made)) == ["trained on other: pgo"]


def test_a_build_that_shares_the_profile_of_another_is_named_too() -> None:
    """Older records have the profile of the build that was made first; the stages of the other name it."""
    events = tuned("pgo", "pgo-bolt").add("profile", variant="pgo", key="p", about={"training": TRAINING})
    built(events, "pgo-bolt", {"key": "i", "title": "instrumented"}, {"key": "p", "title": "training"})
    assert trained(fold(events.made))[0] == "trained on w, other: pgo, pgo-bolt"


def test_a_shared_part_of_a_merged_profile_is_named_by_its_own_loads() -> None:
    """The build that it was made for has the merged profile, of all loads; the other one has that part alone."""
    events = tuned("all", "part").add("profile", variant="all", key="p", about={"training": TRAINING[1:]})
    events.add("profile", variant="all", key="m", about={"training": TRAINING})
    built(events, "part", {"key": "p", "title": "training on other"})
    assert trained(fold(events.made))[:2] == ["trained on w, other: all", "trained on other: part"]
