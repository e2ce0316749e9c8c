"""Options that do nothing beside the others of a call; refused, since who gives one expects something of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from burnish.base.errors import UserError
from burnish.cli.declaration import Verb


def check(verb: Verb, typed: Callable[[str], bool], values: Mapping[str, Any], *, searches: bool) -> None:
    """Refuses options that would be passed over.

    Args:
        verb: the verb.
        typed: returns whether the option of a field stands on the command line; what a settings file gives is for
            other calls too.
        values: every option's value, by field.
        searches: whether the verb searches; a search says by itself what it has no use for.

    Raises:
        UserError: an option that does nothing beside the others.
    """
    fields = {option.field: option.name for option in verb.options}

    def idle(field: str, beside: str) -> bool:
        """Whether the option stands there, of a verb that has the other one."""
        return field in fields and beside in fields and typed(field)

    if idle("seconds", "why") and not values["why"] and not searches:
        raise UserError(
            f"--seconds {values['seconds']:g}: nothing is sampled without --why; add --why, or leave --seconds out"
        )
    if idle("max_starts", "starts") and values["starts"] is not None and not searches:
        raise UserError(
            f"--max-starts {values['max_starts']}: --starts {values['starts']} fixes the number of starts; leave one "
            "of the two out"
        )
    if idle("apart", "sittings") and values["sittings"] == 1:
        raise UserError(
            "--apart: there is one sitting, so that no two are apart; add --sittings N, or leave --apart out"
        )
    if idle("artefacts_gb", "artefacts"):
        from burnish.study.kept.sharing import VARIABLE, url_of

        if url_of(values["artefacts"]) is None:
            raise UserError(
                f"--artefacts-gb {values['artefacts_gb']:g}: nothing is shared that could be bounded; add --artefacts "
                f"URL or set {VARIABLE}, or leave --artefacts-gb out"
            )
