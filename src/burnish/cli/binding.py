"""Makes typer's commands from declared verbs: parameters from the declarations, arguments from their readers.

A verb's function has one parameter for each field of its arguments and options, and `options` for all those that are
fields of `burnish.study.request.options.Options`; a missing or an extra parameter is an error on import.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from burnish.base.errors import UserError, unknown
from burnish.cli import help as pages
from burnish.cli import idle
from burnish.cli.config import settings
from burnish.cli.config.settings import Given
from burnish.cli.declaration import CONFIG, YES, Argument, Option, Verb
from burnish.cli.options import CONFIG as CONFIG_OPTION
from burnish.cli.options import QUIET
from burnish.cli.options import YES as YES_OPTION
from burnish.study.request.options import Options

if TYPE_CHECKING:
    from burnish.record.events.study import Configured

_GIVEN = "burnish.settings"
"""Key of a context's values: what the settings file gives."""

_HELP = frozenset({"-h", "--help", pages.FULL})

_SHARED = frozenset(field.name for field in fields(Options))


class Interrupted(Exception):
    """The user pressed Ctrl-C; kept from typer, whose handling of it depends on its version.

    Args:
        resumes: whether the same command resumes the run.
        fresh: whether it does so only if --fresh is left out.
    """

    def __init__(self, *, resumes: bool, fresh: bool) -> None:
        super().__init__()
        self.resumes = resumes
        self.fresh = fresh

    def __str__(self) -> str:
        if not self.resumes:
            return "interrupted"
        return f"interrupted; the same command{' without --fresh' if self.fresh else ''} resumes the run"


class VerbCommand(TyperCommand):
    """A verb as typer runs it, with help and old spellings from its declaration."""

    verb: ClassVar[Verb]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accepts the previous version's spellings too, and prints what they are now."""
        words, changed = self.verb.renamed(args)
        if not ctx.resilient_parsing:
            for old, new in changed:
                sys.stderr.write(f"burnish: {old} is now {new}; the next version takes the new name only\n")
            if not _HELP.intersection(args):  # help is shown even if the settings file is wrong
                ctx.meta[_GIVEN] = given = settings.from_context(ctx, self.verb, words)
                ctx.default_map = {field: _as_given(self.verb, field, said) for field, said in given.words.items()}
        return super().parse_args(ctx, words)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the verb's page."""
        formatter.write(pages.printed(page(ctx, self.verb, full=False)))


def page(context: Any, verb: Verb, *, full: bool) -> Any:
    """A verb's help page, with the command as it was typed and what the settings file gives to it."""
    name = context.find_root().info_name
    return pages.of_verb(verb, context.command_path, name, full=full, configured=_configured_here(context, verb))


def _configured_here(context: Any, verb: Verb) -> str:
    """What a settings file gives to a verb, in a line; empty if there is nothing to say."""
    try:
        given = settings.from_context(context, verb, ())
    except UserError as error:
        return str(error)
    if given.settings is None:
        return given.note
    return f"From {given.settings.file}: {shlex.join(settings.spelled(verb, given.words))}" if given.words else ""


def _as_given(verb: Verb, field: str, words: Sequence[str]) -> Any:
    """Words of a settings file as typer takes a parameter's value."""
    declared = next(declared for declared in verb if declared.field == field)
    if isinstance(declared, Option) and declared.reader is None:
        return bool(words)
    return list(words) if declared.many else words[-1]


def _typed(ctx: Any, field: str) -> bool:
    """Whether the option of a field stands on the command line."""
    return bool(ctx.get_parameter_source(field).name == "COMMANDLINE")


def _used(ctx: Any, verb: Verb) -> Configured | None:
    """What the settings file gave to this call, without what the command line says otherwise."""
    given: Given = ctx.meta.get(_GIVEN, Given())
    if given.settings is None:
        return None
    words = {
        field: said for field, said in given.words.items() if ctx.get_parameter_source(field).name == "DEFAULT_MAP"
    }
    options = settings.spelled(verb, words)
    from burnish.record.events.study import Configured

    return Configured(str(given.settings.file.absolute()), given.settings.sha256, options) if options else None


class VerbGroup(TyperGroup):
    """A group of verbs: its page lists them; the error for an unknown one names the nearest."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        """The verbs in the order of the help page; of a group, in the order of its module."""
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that the arguments name.

        Raises:
            UserError: there is none of this name.
        """
        if not ctx.resilient_parsing and not args[0].startswith("-"):
            self.named(ctx, args[0])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What completes a word: of the whole command line its verbs, none of which is imported for that."""
        if ctx.parent is not None or incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        matching = ((name, about) for name, (_, about) in pages.VERBS.items() if name.startswith(incomplete))
        return [SimpleNamespace(type="plain", value=name, help=about) for name, about in matching]

    def named(self, ctx: Any, name: str) -> Any:
        """The verb of this name.

        Raises:
            UserError: there is none of this name.
        """
        if name not in self.commands:
            known = self.list_commands(ctx)
            if ctx.parent:
                known = [verb for verb in known if not self.commands[verb].hidden]
            raise unknown(f"{ctx.info_name} verb" if ctx.parent else "verb", name, known)
        return self.commands[name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Writes the group's page."""
        name = ctx.find_root().info_name
        if ctx.parent is None:
            help_page = pages.of_all(name, self.help or "")
        else:
            verbs = {name: command.help or "" for name, command in self.commands.items() if not command.hidden}
            shown = [(verb, verbs[verb]) for verb in self.list_commands(ctx) if verb in verbs]
            help_page = pages.of_group(ctx.command_path, name, self.help or "", shown, self.epilog or "")
        formatter.write(pages.printed(help_page))


def help_of(root: Any, words: Sequence[str]) -> str:
    """The help of the verb or group that these words name, with all options.

    Args:
        root: the context of the whole command line.
        words: as typed, without the program.

    Raises:
        UserError: there is no such verb.
    """
    context = root
    for word in words:
        if not isinstance(context.command, VerbGroup):
            raise UserError(
                f"{' '.join(words)}: {context.info_name} is a verb, not a group of verbs; leave {word!r} out"
            )
        subcommand = context.command.named(context, word)
        context = subcommand.make_context(word, [], parent=context, resilient_parsing=True)
    if isinstance(context.command, VerbCommand):
        return pages.printed(page(context, context.command.verb, full=True))
    return str(context.get_help())


def command(
    group: typer.Typer,
    verb: Verb,
    function: Callable[..., None],
    quieten: Callable[[bool], None],
) -> None:
    """Adds a verb to a group.

    Args:
        group: the group.
        verb: its declaration.
        function: the function that executes it.
        quieten: called with whether no progress is wanted.

    Raises:
        TypeError: the function's parameters do not match the declared fields.
    """
    taken = inspect.signature(function).parameters
    _check(verb, taken)

    def call(ctx: typer.Context, **parsed: Any) -> None:
        given = {field: _words(value) for field, value in parsed.items()}
        if ctx.find_root().params.get(YES):
            given[YES] = ("yes",)
        values = verb.values(given)
        quiet = bool(given[QUIET.field])
        quieten(quiet)
        values["ctx"] = ctx
        repeated = settings.call.repeated
        configured = settings.call.configured = settings.call.earlier if repeated else _used(ctx, verb)
        if not quiet and not repeated:
            settings.announce(configured, ctx.meta.get(_GIVEN, Given()).note)
        if "options" in taken:
            shared = {field: value for field, value in values.items() if field in _SHARED}
            added = configured.options if configured and not repeated else ()
            words = settings.completed(sys.argv[1:], settings.path_of(ctx), added)
            own = {"yes": bool(given[YES]), "command": words, "configured": configured}
            values["options"] = Options(**{**own, **shared})
        if not repeated:
            # Only a verb that may search has --strategy; a budget alone asks for no search elsewhere.
            searches = "strategy" in values and "options" in values and values["options"].searches
            idle.check(verb, partial(_typed, ctx), values, searches=searches)
        try:
            function(**{name: values[name] for name in taken})
        except KeyboardInterrupt:
            raise Interrupted(resumes=verb.resumes, fresh=bool(values.get("fresh"))) from None

    parameters = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    declared = [*verb, *verb.refused]
    for option in (YES_OPTION, QUIET, CONFIG_OPTION):
        if option.field not in [declaration.field for declaration in declared]:
            declared.append(option)  # the launcher takes --yes on its first use, whatever the verb
    hidden = {YES, QUIET.field, CONFIG, *(option.field for option in verb.refused)} - {
        option.field for option in verb.options
    }
    parameters += [_parameter(declaration, hidden=declaration.field in hidden) for declaration in declared]
    parameters.append(_help_all(verb))
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    own = type("Command", (VerbCommand,), {"verb": verb})
    group.command(verb.name, cls=own, help=verb.help, hidden=verb.hidden)(call)


def _check(verb: Verb, taken: Mapping[str, Any]) -> None:
    """Declared fields and the function's parameters must match, except for the fields of `Options`."""
    declared = {declaration.field for declaration in (*verb, *verb.refused)}
    parameters = set(taken) - {"options", "ctx"}
    unused = declared - parameters - (_SHARED if "options" in taken else set()) - {QUIET.field, YES}
    if parameters - declared or unused:
        raise TypeError(
            f"{verb.name}: not declared: {sorted(parameters - declared)}; declared for nothing: {sorted(unused)}"
        )


def _words(value: Any) -> Sequence[str]:
    """The value from typer as a sequence of words; empty if it was not given."""
    if value is None or value is False:
        return ()
    if value is True:
        return ("yes",)
    return (value,) if isinstance(value, str) else tuple(value)


def _parameter(declared: Argument | Option, *, hidden: bool) -> inspect.Parameter:
    """The parameter from which typer makes an argument or an option; its words stay text."""
    kind: Any = list[str] if declared.many else str
    complete = declared.complete
    if isinstance(declared, Argument):
        default = typer.Argument(
            ... if declared.required else None, metavar=declared.value, help=declared.help, autocompletion=complete
        )
    else:
        if declared.reader is None:
            kind = bool
        nothing: Any = False if declared.reader is None else None
        default = typer.Option(
            ... if declared.required else nothing,
            *declared.flags,
            metavar=declared.value or None,
            help=declared.help,
            hidden=hidden,
            autocompletion=complete,
        )
    annotation = kind if kind is bool or declared.required else kind | None
    return inspect.Parameter(declared.field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _help_all(verb: Verb) -> inspect.Parameter:
    """The option that shows all of a verb's options."""

    def show(ctx: typer.Context, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            typer.echo(pages.printed(page(ctx, verb, full=True)))
            raise typer.Exit

    default = typer.Option(False, pages.FULL, help="Show help with all options.", is_eager=True, callback=show)
    return inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=bool)
