"""The command line: one short function per verb."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from burnish import __version__, paths, system
from burnish.bench.host import read_host
from burnish.build.toolchains import find_toolchains
from burnish.catalogue import load
from burnish.errors import InfrastructureError, UserError, unknown
from burnish.record.record import Record, export_events, import_events
from burnish.report import doctor as doctor_report
from burnish.report import terminal
from burnish.report.summary import Summary, summarise
from burnish.run import calibrating, cleaning, studies, verbs
from burnish.run.verbs import Options
from burnish.study.model import Design

app = typer.Typer(
    name="burnish",
    help="Finds, and proves, the fastest way to build a database server for a workload.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
out = Console()
progress = Console(stderr=True)

Variants = Annotated[
    str | None, typer.Option("--variants", help="Variants by name, separated by commas; default: the engine's ladder.")
]
Workloads = Annotated[str | None, typer.Option("--workloads", help="Workloads by name, separated by commas.")]
Threads = Annotated[int | None, typer.Option(min=1, max=1024, help="Client threads of each side.")]
Precision = Annotated[
    str, typer.Option(help="Half-width to reach, as in 1% or 0.5%; 'none' stops at the first verdict.")
]
MaxStarts = Annotated[int, typer.Option(min=3, max=60, help="Most starts of one cell.")]
Pairs = Annotated[int | None, typer.Option(min=1, max=12, help="Pairs in a start.")]
Starts = Annotated[
    int | None, typer.Option(min=2, max=200, help="A number of starts fixed in advance, for figures to publish.")
]
DesignOption = Annotated[
    Design | None, typer.Option(help="Both sides under load, in turn, or one up at a time; default: the workload's.")
]
Explore = Annotated[bool, typer.Option("--explore", help="Look many cells through instead of claiming them together.")]
Force = Annotated[bool, typer.Option("--force", help="Give verdicts though this host's calibration failed (marked).")]
Seed = Annotated[int, typer.Option(help="Decides slots and keys.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Install missing system packages without asking.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Fresh = Annotated[bool, typer.Option(help="Begin a new study even if an unfinished one could be gone on with.")]


@app.command(epilog="Example: burnish tune mariadb --workloads oltp_read_only --precision 0.5%")
def tune(
    engine: Annotated[str, typer.Argument(help="sqlite or mariadb.")],
    variants: Variants = None,
    workloads: Workloads = None,
    recipes: Annotated[Path | None, typer.Option(help="TOML file with variants of your own.")] = None,
    features: Annotated[str | None, typer.Option(help="Feature set of all variants.")] = None,
    source: Annotated[Path | None, typer.Option(help="A source tree or tarball instead of Debian's package.")] = None,
    source_version: Annotated[str | None, typer.Option(help="Version of Debian's source package.")] = None,
    sha256: Annotated[str | None, typer.Option(help="Digest that a --source tarball must have.")] = None,
    threads: Threads = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    design: DesignOption = None,
    explore: Explore = False,
    force: Force = False,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Parallel compile jobs; default: all cores.")] = None,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Build a server many ways from source, test each build, and say which is fastest."""
    options = Options(
        variants=_names(variants),
        recipes=recipes,
        workloads=_names(workloads),
        features=features,
        source=source,
        source_version=source_version,
        sha256=sha256,
        threads=threads,
        precision=_precision(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        design=design,
        explore=explore,
        force=force,
        seed=seed,
        jobs=jobs,
        fresh=fresh,
        yes=yes,
    )
    folder = verbs.tune(paths.home(), engine, options, progress, _asker())
    _print(_summary_of(folder), as_json)


@app.command(epilog="Example: burnish compare /usr/sbin/mariadbd ./mariadbd --engine mariadb")
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="The server program that ratios are against.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The other server program.")],
    engine: Annotated[str, typer.Option(help="Which engine's programs they are.")],
    workloads: Workloads = None,
    threads: Threads = None,
    precision: Precision = "1%",
    max_starts: MaxStarts = 12,
    pairs: Pairs = None,
    starts: Starts = None,
    design: DesignOption = None,
    explore: Explore = False,
    force: Force = False,
    seed: Seed = 1,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Compare two server programs that exist already: no build, trial and verdict."""
    for option, path in (("A", first), ("B", second)):
        if not path.is_file():
            raise UserError(f"{option}: {path}: there is no such file; give the path of a server program")
    options = Options(
        workloads=_names(workloads),
        threads=threads,
        precision=_precision(precision),
        max_starts=max_starts,
        pairs=pairs,
        starts=starts,
        design=design,
        explore=explore,
        force=force,
        seed=seed,
        fresh=fresh,
        yes=yes,
    )
    folder = verbs.compare(paths.home(), engine, (first, second), options, progress, _asker())
    _print(_summary_of(folder), as_json)


@app.command(epilog="Example: burnish calibrate mariadb --workloads oltp_read_only --designs duet,interleaved")
def calibrate(
    engine: Annotated[str, typer.Argument(help="sqlite or mariadb.")],
    designs: Annotated[str, typer.Option(help="Trial designs, separated by commas.")] = "duet,interleaved,solo",
    workloads: Workloads = None,
    features: Annotated[str | None, typer.Option(help="Feature set of the baseline.")] = None,
    source: Annotated[Path | None, typer.Option(help="A source tree or tarball instead of Debian's package.")] = None,
    threads: Threads = None,
    pairs: Pairs = None,
    starts: Annotated[int, typer.Option(min=12, max=200, help="A/A starts under each design.")] = 12,
    seed: Seed = 1,
    fresh: Fresh = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Measure this host's noise with the baseline against itself; later studies use what is found."""
    chosen = [_design(name) for name in _names(designs)]
    options = Options(
        workloads=_names(workloads),
        features=features,
        source=source,
        threads=threads,
        pairs=pairs,
        starts=starts,
        seed=seed,
        fresh=fresh,
        yes=yes,
    )
    folder = calibrating.calibrate(paths.home(), engine, chosen, options, progress, _asker())
    _print(_summary_of(folder), as_json)


@app.command(epilog="Example: burnish show mariadb-tune-20261121 --markdown > result.md")
def show(
    study: Annotated[
        str | None, typer.Argument(help="A study's name, its folder, or an exported .jsonl; default: the newest.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the studies instead.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    export: Annotated[bool, typer.Option("--export", help="Print the whole record as JSON lines.")] = False,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """Print a study's verdicts from its record alone."""
    if list_all:
        _list_studies(as_json)
        return
    if study is not None and study.endswith(".jsonl"):
        path = Path(study)
        if not path.is_file():
            raise UserError(f"{study}: there is no such file; `burnish show STUDY --export` makes one")
        with tempfile.TemporaryDirectory() as place, closing(import_events(path, Path(place))) as record:
            summary = summarise(record.events())
    else:
        folder = studies.find(paths.home(), study)
        if export:
            sys.stdout.write(export_events(folder))
            return
        summary = _summary_of(folder)
    if markdown:
        sys.stdout.write(terminal.markdown(summary))
        return
    _print(summary, as_json)


@app.command(epilog="Example: burnish variants --recipes mine.toml")
def variants(
    recipes: Annotated[Path | None, typer.Option(help="TOML file with variants of your own, listed too.")] = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the ways to build: each variant's name, what it changes against the baseline, and why one would want it."""
    every = {**load.variants(), **(load.read_variants(recipes) if recipes else {})}
    if as_json:
        values = [
            {
                "variant": variant.name,
                "reason": variant.reason,
                "weakens_security": variant.weakens_security,
                "changes": variant.recipe.changes(),
            }
            for variant in every.values()
        ]
        sys.stdout.write(json.dumps(values, indent=1) + "\n")
        return
    for variant in every.values():
        changes = ", ".join(f"{name} {value}" for name, value in variant.recipe.changes().items())
        out.print(f"[bold]{variant.name}[/bold]" + (" (weakens security)" if variant.weakens_security else ""))
        out.print(Padding(Text(f"{variant.reason}"), (0, 0, 0, 4)))
        if changes:
            out.print(Padding(Text(changes, style="dim"), (0, 0, 0, 4)))


@app.command(epilog="Example: burnish doctor --json")
def doctor(as_json: AsJson = False, yes: Yes = False) -> None:  # noqa: ARG001 - the launcher takes --yes
    """Say what this machine has and lacks: each lack with its consequence and the command that mends it."""
    facts = read_host(paths.home().root)
    needed = {spec.name: verbs.disk_needed(spec, len(spec.ladder)) for spec in load.engines().values()}
    findings = doctor_report.examine(facts, find_toolchains(), system.find_programs(doctor_report.PROGRAMS), needed)
    if as_json:
        sys.stdout.write(doctor_report.as_json(findings, facts) + "\n")
    else:
        out.print(doctor_report.as_table(findings))


@app.command(epilog="Example: burnish clean --older-than 30 --keep-gb 20 --yes")
def clean(
    older_than: Annotated[float | None, typer.Option(min=0, help="Remove what was not used for so many days.")] = None,
    keep_gb: Annotated[float | None, typer.Option(min=0, help="Keep at most so many GB, the last used ones.")] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show what is kept and how large it is; remove what is too old or too much. Records are never removed."""
    home = paths.home()
    with studies.lock(home):
        items = cleaning.inventory(home)
        doomed = cleaning.choose(
            items,
            older_s=None if older_than is None else older_than * cleaning.DAY_S,
            bound=None if keep_gb is None else int(keep_gb * 1e9),
        )
        if as_json:
            values = [{**vars(item), "folder": str(item.folder), "goes": item in doomed} for item in items]
            sys.stdout.write(json.dumps(values, indent=1) + "\n")
        else:
            _print_inventory(items, doomed)
        if not doomed:
            return
        ask = _asker()
        if not yes and (ask is None or not ask(f"remove {len(doomed)} entries?")):
            raise UserError("clean: nothing was removed; answer yes, or say --yes")
        freed = cleaning.remove(home, doomed)
        progress.print(f"freed {freed / 1e6:,.0f} MB")


@app.callback(invoke_without_command=True)
def version(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Finds, and proves, the fastest way to build a database server for a workload."""
    if show_version:
        sys.stdout.write(f"burnish {__version__}\n")
        raise typer.Exit


def _names(text: str | None) -> tuple[str, ...]:
    names = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{name!r} is named twice; name each once")
    return names


def _design(name: str) -> Design:
    if name not in list(Design):
        raise unknown("design", name, list(Design))
    return Design(name)


def _precision(text: str) -> float | None:
    if text == "none":
        return None
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.0005 <= value <= 0.2:
        raise UserError(f"--precision {text}: give a half-width from 0.05% to 20%, or 'none'")
    return value


def _asker() -> verbs.Ask | None:
    """How to ask a person; None when nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return lambda question: typer.confirm(question, err=True)


def _summary_of(folder: Path) -> Summary:
    with closing(Record(folder)) as record:
        return summarise(record.events())


def _print(summary: Summary, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(summary.as_dict(), indent=1, default=str) + "\n")
    else:
        out.print(terminal.render(summary))


def _list_studies(as_json: bool) -> None:
    rows = []
    for folder in studies.folders(paths.home()):
        summary = _summary_of(folder)
        done = sum(row.verdict != "running" for row in summary.rows)
        rows.append((summary.name, summary.ended or "not finished", f"{done} of {len(summary.rows)}"))
    if as_json:
        names = ("study", "ended", "verdicts")
        sys.stdout.write(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=1) + "\n")
        return
    table = Table("study", "ended", "verdicts", box=None)
    for row in rows:
        table.add_row(*row)
    out.print(table if rows else "no study yet; `burnish tune sqlite` makes the first one")


def _print_inventory(items: list[cleaning.Kept], doomed: list[cleaning.Kept]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("kind", "name", "what", "MB", "days unused", ""):
        table.add_column(name, justify="right" if name in ("MB", "days unused") else "left", overflow="fold")
    for item in items:
        table.add_row(
            item.kind,
            item.name,
            item.what,
            f"{item.size / 1e6:,.1f}",
            f"{item.age_s / cleaning.DAY_S:.1f}",
            "goes" if item in doomed else "",
        )
    out.print(table)
    out.print(f"{sum(item.size for item in items) / 1e6:,.0f} MB in {paths.home().root}")


def main() -> None:
    """Entry point: runs the verb; turns both families of error into words and exit codes."""
    try:
        app(standalone_mode=False)
    except UserError as error:
        progress.print(f"burnish: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(UserError.exit_code)
    except InfrastructureError as error:
        progress.print(f"burnish: {error.explain()}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(InfrastructureError.exit_code)
    except typer.TyperException as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # then the help has been printed
            progress.print(f"burnish: {_usage(error)}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        progress.print("burnish: interrupted; the same command goes on where it was")
        sys.exit(130)


def _usage(error: typer.TyperException) -> str:
    """A wrong call in one line, with the nearest verb where a verb was meant."""
    text = error.format_message()
    words = sys.argv[1:2]
    if "No such command" in text and words:
        verbs_known = [command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands]
        return str(unknown("verb", words[0], verbs_known))
    return f"{text} (see `burnish {' '.join(words)} --help`)"
