"""What MySQL's cmake is told beyond what the family's is, and its own profile options (``FPROFILE_USE``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.engines.contract import BuildJob
from burnish.engines.mysql.tree import Tree
from burnish.engines.mysql_family import build
from burnish.engines.steps import Command
from burnish.model.engine import is_on

USE = "FPROFILE_USE"
"""The vendor's option that compiles with a profile; it turns link-time optimisation on unless told otherwise."""

_PROFILE = "-fprofile-use"
_COPY = (
    r"my ($from, $to) = @ARGV; my @all; find(sub { push @all, $File::Find::name if /\.gcda$/ }, $from);"
    r" mkdir $to or die qq($to: $!) if @all; for (@all) { copy $_, qq($to/) . tr|/|#|r or die qq($_: $!) }"
)


def configure_command(job: BuildJob, tree: Tree) -> list[str]:
    """cmake's command line; the recipe's options win over the version's, these over the feature set's, all over ours.

    Raises:
        UserError: `USE` without a profile; a fully static or a 32-bit server; a tree that lacks the boost it needs.
    """
    for flag, what in ((build.STATIC, "fully static"), ("-m32", "32-bit")):
        if flag in (*job.flags.cxx, *job.flags.link):
            raise UserError(f"a {what} MySQL server cannot be built; leave {flag} out")
    boost = dict(tree.options).get("WITH_BOOST")
    if boost and "WITH_BOOST" not in dict(job.options) and not Path(boost).is_dir():
        raise UserError(f"{tree.title}: no boost in {boost}; take the tarball with it, or name it by option WITH_BOOST")
    own = {
        # The link has a build id of our own flags, and objects have the debug information that the job asks for.
        "WITH_BUILD_ID": "OFF",
        "MINIMAL_RELWITHDEBINFO": "OFF",
    }
    answered: dict[str, str] = {}
    if job.link_jobs is not None and job.link_jobs < job.jobs:
        # Its CMakeLists replaces all pools by one of this name.
        answered |= {"CMAKE_JOB_POOLS": "one_job=1", "CMAKE_JOB_POOL_LINK": "one_job"}
    if is_vendors(job):
        answered |= {
            "FPROFILE_DIR": str(_profile_of(job)),
            "CMAKE_PROJECT_INCLUDE": str(Path(__file__).with_name("same_names.cmake")),
        }
    return build.configure_command(replace(job, options=(*tree.options, *job.options)), own, answered)


def is_vendors(job: BuildJob) -> bool:
    """Whether the recipe asks for the vendor's own use of profiles."""
    return is_on(dict(job.options).get(USE, ""))


def _profile_of(job: BuildJob) -> Path:
    """What FPROFILE_DIR must name: clang's one file, or the folder in which gcc looks for mangled names."""
    uses = [flag for flag in job.flags.c if flag == _PROFILE or flag.startswith(f"{_PROFILE}=")]
    if not uses:
        raise UserError(f"option {USE}: there is no profile to use; set pgo = true in the recipe, or leave it out")
    path = uses[-1].partition("=")[2]
    return Path(path) if path else job.place / "profile-data"


def laying(job: BuildJob) -> tuple[Command, ...]:
    """What copies gcc's counts to where the vendor's cmake has it look: in one folder, each named by its whole path, as
    gcc names them (``mangle_path`` in gcc/coverage.cc)."""
    if job.toolchain.family != "gcc" or not is_vendors(job):
        return ()
    given = ("-MFile::Find", "-MFile::Copy", "-e", _COPY, str(job.place), str(_profile_of(job)))
    return (Command("profile", ("perl", *given)),)
