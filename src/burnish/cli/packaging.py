"""The verbs that turn a run's build into what can be installed or given away."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from burnish.base import paths, system
from burnish.base.errors import UserError, unknown
from burnish.base.files import remove_tree, sha256_of
from burnish.base.paths import Home
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import asker, line, print_json, progress, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.measuring import draw_board
from burnish.cli.results import print_result, result_of, run_named
from burnish.packages import gains, opposite, root, signing
from burnish.packages import verify as checking
from burnish.packages.chosen import choose
from burnish.packages.planned import Format, Package, Request, make, tried_in_root
from burnish.packages.verify import Checked
from burnish.record.workbench import Bench
from burnish.report.values import runs as values
from burnish.study import runner
from burnish.study.constructors.compare import compare_study
from burnish.study.kept import newest
from burnish.study.kept import runs as studies
from burnish.study.request.options import Options


@verb(
    "package",
    o.PACKAGED_RUN, o.PACKAGED, o.PACKAGE_AS, o.OUTPUT, o.ACCEPT, o.BASE, o.STRIP, o.SIGN_KEY, o.TRY_IN_ROOT, o.FORCE,
    o.QUIET, o.JSON,
    example="burnish package {engine}-tune-20261121 --variant clang-pgo-thinlto --output out",
)  # fmt: skip
def package(
    run: str | None, variant: str | None, format: str, output: Path | None, accepted: tuple[str, ...],  # noqa: A002
    base: Path | None, strip: bool, sign_key: Path | None, try_in_root: bool,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Make a package of a run's build: .deb, archive, script or others.

    A .deb is the distribution's own binary package of the version that was built, with exactly the measured program in
    it. Both servers are asked what they can do, and every loadable plugin of the distribution is tried in both; what
    would be lost is named, and nothing is made unless it is accepted. Provenance, verdict and bill of materials are in
    the package and beside it.
    """
    if format not in [kind.value for kind in Format]:
        raise unknown("format", format, [kind.value for kind in Format])
    request = Request(Format(format), output or Path(), base, accepted, force, strip)
    if try_in_root and request.format not in (Format.DEB, Format.OCI):
        raise UserError(f"--try-in-root: for --as deb and oci, not {request.format}; leave it out")
    home = paths.home()
    folder = _run_with_build(run, variant)
    if sign_key is not None:
        signing.ready(sign_key, home.root / "verified")
    with studies.lock(home):
        chosen = choose(home, folder, result_of(folder), variant)
        bench = Bench(None, home.root / "logs", progress)
        if try_in_root:
            root.check(chosen.engine.spec.packaging)
        made = make(home, chosen, request, bench)
        if try_in_root and made.deb is not None:
            made = replace(made, says=(*made.says, *tried_in_root(home, chosen, made.deb, bench)))
    if sign_key is not None:
        made = replace(made, files=(*made.files, *signing.sign([made.files[0]], sign_key)))
    if as_json:
        print_json("package", _value(made))
        return
    for text in _lines(made):
        line(text)


_SESSION = tuple(option for option in o.SESSION if option is not o.ON_HOSTS)
"""The package is on this host alone."""

_MEASURING = (*o.LOAD, *o.HOW_EXACTLY, *_SESSION)


@verb(
    "verify",
    Argument("file", "FILE", "A .deb or .tar.gz of `burnish package`.", readers.path),
    o.KEY, o.MEASURE, o.BASE, *_MEASURING, o.JSON,
    example="burnish verify ./server.deb --key builder.pub",
    resumes=True,
)  # fmt: skip
def verify(
    ctx: typer.Context, file: Path, key: Path | None, measured: bool, base: Path | None, options: Options,
    as_json: bool,
) -> None:  # fmt: skip
    """Check a package: digests, provenance, signature; its speed too.

    What is measured is the program in the package, against the program of the distribution's package that it replaces
    or, where there is none, the baseline of its study. Loads, design and placement are those of the figures that its
    study quotes unless others are asked for. It ends with what the study found beside it, and whether the gain is the
    same.
    """
    if base is not None and not measured:
        raise UserError("--base: names what is measured against; add --measure, or leave it out")
    for option in () if measured else _MEASURING:
        source = ctx.get_parameter_source(option.field)  # a settings file is for other calls too
        if option not in (o.YES, o.QUIET) and source is not None and source.name == "COMMANDLINE":
            raise UserError(f"{option.name}: says how it is measured; add --measure, or leave {option.name} out")
    home = paths.home()
    checking.exists(file)
    if measured:
        with studies.lock(home):  # a run may be measuring what this unpacks anew
            pass
        place = home.root / "verified" / sha256_of(file)[:16]
        try:
            found = checking.check(file, place, key)
        except BaseException:
            remove_tree(place)
            raise
        _measure_package(home, found, place, base, options, as_json)
        return
    home.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="verify-", dir=home.scratch) as folder:
        found = checking.check(file, Path(folder) / "package", key)
    if as_json:
        verdict = found.verdict.get("predicate")
        print_json("verify", {"file": str(file), "checked": list(found.lines), "verdict": verdict})
    for text in () if as_json else found.lines:
        line(text)


def _measure_package(
    home: Home, found: Checked, place: Path, base: Path | None, options: Options, as_json: bool
) -> None:
    """Measures a checked package's program, and says whether the gain is its study's."""
    for text in found.lines:
        say(text)
    try:
        other = opposite.find(home, found, base, place / "before", say)
        say(f"measured against {other.about}")
        told = found.verdict.get("predicate") or {}
        options = replace(gains.as_the_study(options, told), labels=(other.name, gains.PACKAGE))
        study = compare_study(found.engine, [other.program, found.program], options)
    except BaseException:
        remove_tree(place)  # from here on a run may be resumed that needs it
        raise
    folder = runner.run(home, study, options, progress, asker(), draw=draw_board)
    result = result_of(folder)
    remove_tree(place)
    held = gains.held(told, result)
    if as_json:
        print_json("verified", {**values.run(result), "checked": list(found.lines), "verified": gains.value(held)})
    else:
        print_result(result, as_json, folder, full=False)
        line()
        for text in gains.lines(told, other.name, held):
            line(text)
    if result.nothing_measured:
        raise typer.Exit(1)


@verb(
    "install",
    o.PACKAGED_RUN, o.PACKAGED, o.ACCEPT, o.BASE, o.STRIP, o.FORCE, o.YES, o.QUIET,
    example="burnish install {engine}-tune-20261121",
)  # fmt: skip
def install(
    run: str | None, variant: str | None, accepted: tuple[str, ...], base: Path | None, strip: bool, force: bool,
    options: Options,
) -> None:  # fmt: skip
    """Install the .deb with apt, after asking; prints the way back.

    The package stays in the home's folder `packages`. A server that is running stays the program before until it is
    restarted; the last line has the command.
    """
    home = paths.home()
    folder = _run_with_build(run, variant)
    with studies.lock(home):
        chosen = choose(home, folder, result_of(folder), variant)
        request = Request(Format.DEB, home.root / "packages", base, accepted, force, strip, verb="install")
        made = make(home, chosen, request, Bench(None, home.root / "logs", progress))
    for text in _lines(made):
        line(text)
    if made.deb is not None:
        system.install_file(made.files[0], made.along.words, yes=options.yes, ask=asker(), say=say)
        line(made.says[-1])  # again, behind apt's lines: it is left to the user


def _run_with_build(run: str | None, variant: str | None) -> Path:
    """The folder of the named run; without a name, of the newest with such a build, which is said."""
    if run is not None:
        return run_named(run)
    folder = newest.with_build(paths.home(), variant)
    say(f"{folder.name}: the newest run that built {variant or 'a variant'}")
    return folder


def _value(made: Package) -> dict[str, object]:
    return {
        "run": made.chosen.result.name,
        "variant": made.chosen.variant,
        "build": made.chosen.making.key,
        "files": [str(file) for file in made.files],
        "version": made.deb.version if made.deb else None,
        "sha256": made.deb.sha256 if made.deb else None,
        "program": made.deb.program if made.deb else made.chosen.making.sha256,
        "forced": list(made.made.forced),
        "differences": [asdict(one) for one in made.made.differences],
        "compared": dict(made.kinds),
        "plugins": made.plugins,
        "says": list(made.says),
    }


def _lines(made: Package) -> list[str]:
    lines = [str(file) for file in made.files[:1]]
    lines.append(f"{made.chosen.variant} of {made.chosen.result.name}: {made.chosen.gain}")
    if made.kinds:
        counted = ", ".join(f"{kind} {count}" for kind, count in made.kinds.items())
        lines.append(f"asked both servers: {counted}; loadable plugins tried in both: {made.plugins}")
    lines += [f"{'accepted' if one.accepted else 'difference'}: {one.what}" for one in made.made.differences]
    lines += [f"FORCED, in spite of: {text}" for text in made.made.forced]
    lines += made.says
    beside = [os.path.relpath(file, made.files[0].parent) for file in made.files[1:]]
    lines += [f"beside it: {', '.join(beside)}"] if beside else []
    return lines
