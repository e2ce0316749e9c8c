"""The verbs that turn a run's build into what can be installed or given away."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from burnish.base import paths, system
from burnish.base.errors import UserError, unknown
from burnish.base.files import remove_tree, sha256_of
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import asker, line, measure, print_json, progress, result_of, run_named, say, verb
from burnish.cli.declaration import Argument
from burnish.packages import root, signing
from burnish.packages import verify as checking
from burnish.packages.chosen import choose
from burnish.packages.planned import Format, Package, Request, make, tried_in_root
from burnish.record.workbench import Bench
from burnish.source.debian import binary
from burnish.study.constructors.compare import compare_study
from burnish.study.kept import runs as studies
from burnish.study.request.options import Options


@verb(
    "package",
    o.RUN, o.PACKAGED, o.PACKAGE_AS, o.OUTPUT, o.ACCEPT, o.BASE, o.STRIP, o.SIGN_KEY, o.TRY_IN_ROOT, o.FORCE,
    o.QUIET, o.JSON,
    example="burnish package {engine}-tune-20261121 --variant clang-pgo-thinlto --output out",
)  # fmt: skip
def package(
    run: str | None, variant: str | None, format: str, output: Path | None, accepted: tuple[str, ...],  # noqa: A002
    base: Path | None, strip: bool, sign_key: Path | None, try_in_root: bool,
    force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Make a package of a run's build: a .deb, an archive, a script or files for another build system.

    A .deb is the distribution's own binary package of the version that was built, with exactly the measured program in
    it. Both servers are asked what they can do, and every loadable plugin of the distribution is tried in both; what
    would be lost is named, and nothing is made unless it is accepted. Provenance, verdict and bill of materials are in
    the package and beside it.
    """
    if format not in [kind.value for kind in Format]:
        raise unknown("format", format, [kind.value for kind in Format])
    home = paths.home()
    folder = run_named(run)
    request = Request(Format(format), output or Path(), base, accepted, force, strip)
    with studies.lock(home):
        chosen = choose(home, folder, result_of(folder), variant)
        bench = Bench(None, home.root / "logs", progress)
        if try_in_root:
            root.check(chosen.engine.spec.packaging)
        made = make(home, chosen, request, bench)
        if try_in_root and made.deb is not None:
            made = replace(made, says=(*made.says, *tried_in_root(home, made, bench)))
    if sign_key is not None:
        made = replace(made, files=(*made.files, *signing.sign([made.files[0]], sign_key)))
    if as_json:
        print_json("package", _value(made))
        return
    for text in _lines(made):
        line(text)


@verb(
    "verify",
    Argument("file", "FILE", "A .deb or .tar.gz of `burnish package`.", readers.path),
    o.KEY, o.MEASURE, *o.LOAD, *o.HOW_EXACTLY, *o.SESSION, o.JSON,
    example="burnish verify ./server.deb --key builder.pub",
    resumes=True,
)  # fmt: skip
def verify(file: Path, key: Path | None, measured: bool, options: Options, as_json: bool) -> None:
    """Check a package: digests, provenance, signature; with --measure its speed here.

    What is measured is the program in the package, against the program of the distribution's package that it replaces.
    """
    home = paths.home()
    place = home.root / "verified" / sha256_of(file)[:16]
    try:
        found = checking.check(file, place, key)
    finally:
        if not measured:
            remove_tree(place)
    if not measured:
        if as_json:
            verdict = found.verdict.get("predicate")
            print_json("verify", {"file": str(file), "checked": list(found.lines), "verdict": verdict})
        for text in () if as_json else found.lines:
            line(text)
        return
    if found.base is None:
        raise UserError(f"{file}: it replaces no package of the distribution; `burnish compare` takes two programs")
    for text in found.lines:
        say(text)
    name, version = found.base
    original = binary.obtain(name, version, cache=home.downloads / "debs", say=say)
    before = binary.unpack(original, place / "before") / found.program.relative_to(found.root)
    options = replace(options, labels=("distribution", "package"))
    measure(compare_study(found.engine, [before, found.program], options), options, as_json, dry_run=False)


@verb(
    "install",
    o.RUN, o.PACKAGED, o.ACCEPT, o.BASE, o.STRIP, o.FORCE, o.YES, o.QUIET,
    example="burnish install {engine}-tune-20261121",
)  # fmt: skip
def install(
    run: str | None, variant: str | None, accepted: tuple[str, ...], base: Path | None, strip: bool, force: bool,
    options: Options,
) -> None:  # fmt: skip
    """Make the .deb and install it with apt, after asking; prints the way back.

    The package stays in the home's folder `packages`. The service is restarted by the package's own scripts, or by you.
    """
    home = paths.home()
    folder = run_named(run)
    with studies.lock(home):
        chosen = choose(home, folder, result_of(folder), variant)
        request = Request(Format.DEB, home.root / "packages", base, accepted, force, strip)
        made = make(home, chosen, request, Bench(None, home.root / "logs", progress))
    for text in _lines(made):
        line(text)
    if made.deb is not None:
        system.install_file(made.files[0], yes=options.yes, ask=asker(), say=say)


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
    lines += [f"beside it: {', '.join(file.name for file in made.files[1:])}"] if len(made.files) > 1 else []
    return lines
