"""The verb that writes a settings file, after asking for what most people set."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from burnish.base.errors import UserError, together
from burnish.base.files import check_folder, write_out
from burnish.catalogue import load
from burnish.cli import help as pages
from burnish.cli import options as o
from burnish.cli.common import app, asker, say, verb
from burnish.cli.config import model, schemas, settings
from burnish.cli.config.keys import ENGINE, NAME, keys, verbs_of
from burnish.cli.declaration import Option
from burnish.engines.loads import OwnData
from burnish.engines.registry import create
from burnish.source.revisions import is_revision
from burnish.workload import loads

QUESTIONS: Mapping[str, str] = {
    ENGINE: "Which database server ({engines})",
    "source": "Its source: a folder or tarball (empty: the distribution's package)",
    "workload": "Workloads, yours (.sql, .lua) or those of `burnish workload list` (empty: {workloads})",
    "budget": "Time for one session, as in 2h or 90m (empty: as long as it takes)",
    "records": "Exported records of other hosts, with commas between (empty: none)",
}
"""What is asked, by key, in this order."""

Answer = Callable[[str, str], str]
"""Takes a question and the answer that is suggested; returns the answer."""

Values = Mapping[str, Sequence[str]]
"""Words by key."""


@verb(
    "init", o.ENGINE_OPTION, o.SOURCE, o.WORKLOADS, o.DATA, o.DATABASE, o.BUDGET, o.HOSTS, o.OUTPUT, o.YES,
    example="burnish init --engine {engine} --budget 2h",
)  # fmt: skip
def init(
    ctx: typer.Context, engine: str | None, source: Path | None, workloads: tuple[str, ...], data: Path | None,
    database: str | None, budget: float | None, hosts: tuple[Path, ...], output: Path | None, yes: bool,
) -> None:  # fmt: skip
    """Write burnish.toml, the settings that every verb reads.

    It holds for this folder and those below. You are asked for the server, its source, the load, the time and other
    hosts' records; with --yes, or without a terminal, these are the options, or what is usual. What is typed on the
    command line wins over the file.
    """
    target = output or Path(NAME)
    ask = asker()
    own = OwnData(data, database) if data else None
    if database is not None and own is None:
        raise UserError(f"--database {database}: is of your own data; name them with --data, or leave --database out")
    if target.exists() and not (ask and ask(f"{target} is there already; write it anew?")):
        raise UserError(f"{target}: is there already; move it away, or name another file with --output")
    check_folder(target)
    known = keys(verbs_of(typer.main.get_command(app)))
    typed = {key: _typed(ctx.params[known[key].field]) for key in QUESTIONS}
    read = dict(zip(QUESTIONS, (engine, source, workloads, budget, hosts), strict=True))
    values = {key: words for key, words in typed.items() if read[key]}
    answer = (lambda question, usual: str(typer.prompt(question, default=usual, err=True))) if ask and not yes else None
    here = Path.cwd()
    said: Values = interview(known, values, here, answer, own) | _words(own)
    if target.parent.resolve() != here.resolve():  # a relative path would be of the file's folder
        said = {key: settings.with_paths(known[key], words, _absolute) for key, words in said.items()}
    write_out(target, text(known, said))
    say(f"{target}: settings of every verb here and below; edit it, or call `burnish plan`")


def _absolute(word: str) -> str:
    return str(Path(word).expanduser().absolute())


def _words(own: OwnData | None) -> dict[str, tuple[str, ...]]:
    """The user's own data as words, by key."""
    if own is None:
        return {}
    return {"data": (str(own.place),), **({"database": (own.database,)} if own.database else {})}


def _typed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def interview(
    known: Mapping[str, Option], given: Values, here: Path, answer: Answer | None, data: OwnData | None = None
) -> dict[str, Any]:
    """The values of the keys in `QUESTIONS`, as words; keys without one are left out.

    Args:
        known: the keys of a settings file.
        given: words that were given already, which are not asked for.
        here: the folder: a source tree suggests its engine.
        answer: asks the user; None: nobody can be asked.
        data: the user's own data, for statements of the user's.

    Raises:
        UserError: something given is wrong; of an answer this is said, and the question is asked again.
    """
    values: dict[str, Any] = {}
    tree = _tree(here)
    usual = {ENGINE: tree or load.example(), "source": "." if tree else ""}
    problems = []
    for key, question in QUESTIONS.items():
        option = known[key]
        if key in given or answer is None:
            words = tuple(given.get(key, ())) or tuple(filter(None, (usual.get(key, ""),)))
            try:
                values[key] = _checked(option, key, words, values, data)
            except UserError as error:
                problems.append(error)
            continue
        while True:
            said = answer(_filled(question, values), usual.get(key, "")).strip()
            try:
                values[key] = _checked(option, key, (said,) if said else (), values, data)
                break
            except UserError as error:
                say(str(error))
    if problems:
        raise together(problems)
    return {key: words for key, words in values.items() if words}


def _tree(here: Path) -> str | None:
    """The engine whose source tree a folder is."""
    try:
        return load.engine_of(here).name
    except UserError:
        return None


def _filled(question: str, values: Mapping[str, Any]) -> str:
    spec = load.engine(values[ENGINE][-1]) if ENGINE in values else None
    usual = ", ".join(spec.workloads) if spec else ""
    return pages.filled(question.replace("{workloads}", usual))


def _checked(
    option: Option, key: str, words: Sequence[str], before: Mapping[str, Any], data: OwnData | None
) -> tuple[str, ...]:
    """Words of an answer, one for each value; raises `UserError` if its option would refuse them."""
    if not words:
        return ()
    read = option.value_of(words)
    if key == ENGINE:
        load.engine(read)
    elif key == "workload" and before.get(ENGINE):
        known = create(load.engine(before[ENGINE][-1])).loads
        for word in read:
            known.resolve(loads.asked(word), data)
    elif key in ("source", "records"):
        for path in read if option.many else (read,):
            if not path.expanduser().exists() and not (key == "source" and is_revision(path)):
                raise UserError(f"{option.name} {path}: there is no such file or folder")
    return tuple(str(part) for part in read) if option.many else (words[-1],)


WIDTH = 100


def text(known: Mapping[str, Option], values: Mapping[str, Sequence[str]]) -> str:
    """A settings file: the values, and every other key as a comment; above each what its option's help says."""
    parts = [
        f"#:schema {schemas.shipped('config').as_uri()}",
        "",
        "# Settings of Burnish. Every verb reads this file here and in folders below it, and takes from it what it has",
        "# an option for; what is typed on the command line wins. Paths are relative to this file.",
    ]
    panel = ""
    for key, option in known.items():
        if option.panel != panel:
            panel = option.panel
            parts += ["", f"# --- {panel} ---"]
        parts += ["", *(f"# {line}" for line in textwrap.wrap(pages.described(option), WIDTH, break_on_hyphens=False))]
        if key in values:
            parts.append(f"{key} = {model.literal(values[key], option)}")
        else:
            parts.append(f"# {key} = {example(option)}")
    return "\n".join([*parts, ""])


def example(option: Option) -> str:
    """A value as a comment shows it: the default, or what stands for a value in help."""
    if option.reader is None:
        return "true"
    return model.literal((option.default or option.value,), option)
