"""What a user asks to deploy otherwise, as choices of the catalogue; refused if it changes what the server promises.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from burnish.base.errors import UserError, nearest
from burnish.catalogue.deployment import Choice, Deployment, Promise
from burnish.model.engine import EngineSpec
from burnish.workload.conditions import condition_of, plain, without_affix

ALL = "all"
"""Word for all choices that the catalogue has for the engine."""


def choices_of(
    words: Iterable[str], spec: EngineSpec, known: Deployment, option: str = "--deploy"
) -> tuple[Choice, ...]:
    """The choices that these words name, in order, each once.

    Args:
        words: `ALL`, names of the catalogue's choices, and settings of the user's own, ``NAME=VALUE``.
        spec: the engine.
        known: its promises and choices.
        option: for errors.

    Raises:
        UserError: an unknown name, an engine that has no server, or a setting that changes what the server promises.
    """
    chosen: dict[str, Choice] = {}
    for word in words:
        if not known.choices:
            raise UserError(f"{option} {word}: no ways to deploy {spec.title} are known here; leave it out")
        if word == ALL:
            chosen |= known.choices
        elif word in known.choices:
            chosen[word] = known.choices[word]
        elif "=" in word:
            chosen[word] = Choice(word, (word,), does="a setting of your own")
        else:
            raise UserError(
                f"{option}: unknown choice {word!r}{nearest(word, known.choices)}; there are: {ALL}, "
                f"{', '.join(known.choices)}; or a setting, NAME=VALUE"
            )
    for choice in chosen.values():
        check(choice, spec, known.promises, option)
    return tuple(chosen.values())


def check(choice: Choice, spec: EngineSpec, promises: Mapping[str, Promise], option: str = "--deploy") -> None:
    """Raises a `UserError` for a choice that changes what the server promises, or whose words are no condition."""
    condition = condition_of(choice.words, spec.settings, option=option)
    if condition.storage:
        raise UserError(f"{option} {choice.name}: storage decides whether data survive; compare places with --versus")
    for name, value in condition.settings:
        broken = next((promise for promise in promises.values() if _breaks(promise, name, value)), None)
        if broken is not None:
            raise UserError(
                f"{option} {choice.name}: {plain(name)} decides about {broken.name} ({_first(broken.reason)}), which "
                f"no deployment choice may change; what it costs: burnish compare A A --versus {plain(name)}={value}"
            )


def _breaks(promise: Promise, name: str, value: str) -> bool:
    """Whether a setting is one of a promise's, or the beginning of one where the server's list is not asked for it.

    MariaDB and MySQL take ``innodb_doublewr`` for ``innodb_doublewrite``. A whole name is looked up before anything is
    measured, and one that is not in the list is refused; a name with ``loose_`` is not, as the server may lack it.
    """
    bare = without_affix(plain(name))
    if any(bare == other or (other.endswith("*") and bare.startswith(other[:-1])) for other in promise.settings):
        return True
    if bare in promise.only:
        return value.upper() not in {allowed.upper() for allowed in promise.only[bare]}
    return name.startswith("loose_") and any(
        other.rstrip("*").startswith(bare) for other in (*promise.settings, *promise.only)
    )


def _first(reason: str) -> str:
    """The first clause of a reason, to stand within a sentence."""
    clause = re.split(r"[:.;] |\.$", reason)[0]
    return clause[:1].lower() + clause[1:]


def together(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """Of these choices, the best first, those that can be taken together: of a group only the first."""
    taken: dict[str, Choice] = {}
    for choice in choices:
        taken.setdefault(choice.choice or choice.name, choice)
    return tuple(taken.values())
