"""Arguments that several verbs have."""

from __future__ import annotations

from dataclasses import replace

from burnish.cli import completion, readers
from burnish.cli.completion import one
from burnish.cli.declaration import Argument

ENGINE = Argument("engine", "ENGINE", "{engines}.", complete=one(completion.engines))
ONE_ENGINE = replace(ENGINE, required=False, unset="all")
WORDS = Argument(
    "words",
    "WORD",
    "Show entries in which all these words occur, in full.",
    readers.verbatim,
    many=True,
    required=False,
)
RUN = Argument(
    "run", "RUN", "A run's name or its beginning, its folder, or an exported record.",
    required=False, unset="the newest with verdicts", complete=one(completion.runs),
)  # fmt: skip
KEPT_RUN = replace(RUN, help="A run's name or its beginning, or its folder.")
PACKAGED_RUN = replace(KEPT_RUN, unset="the newest that built a variant, of --variant where it is given")
PROFILE = Argument(
    "which", "PROFILE", "A profile's name, its key, or the key's beginning.", complete=one(completion.profiles)
)
STUDY = Argument("name", "STUDY", "A bundled study; `burnish study list` lists them.", complete=one(completion.bundled))
