"""Options that several verbs have, each defined once; groups of options for verbs to list.

An option that several verbs have is the same option: one name, one sentence of help. A verb may give it a default or
bounds of its own (`dataclasses.replace`). To give a verb an ability, add the group's name to the verb's list.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from burnish.cli import completion, readers
from burnish.cli.completion import one, several
from burnish.cli.declaration import YES as YES_FIELD
from burnish.cli.declaration import Option

_build = partial(Option, panel="What to build")
_load = partial(Option, panel="Load")
_how = partial(Option, panel="How exactly")
_machine = partial(Option, panel="Machine")
_output = partial(Option, panel="Output")

# --- What to build ---

VARIANTS = _build(
    "variants", ("--variant",), "What to build, by name; `burnish variants` lists the variants.",
    readers.names, "NAME,...", many=True, unset="the engine's, and all of --recipes", old=("--variants",),
    common=True, complete=several(completion.variants),
)  # fmt: skip
VARIANT = replace(
    VARIANTS, field="variant", reader=readers.text, value="NAME", many=False, default="baseline", unset="",
    complete=one(completion.variants),
)  # fmt: skip
RECIPES = _build("recipes", ("--recipes",), "TOML file with variants of your own.", readers.path, "FILE", common=True)
FEATURES = _build("features", ("--features",), "Feature set of all builds.", readers.text, "NAME", unset="the engine's")
SOURCE = _build(
    "source", ("--source",),
    "Source tree, tarball or git FOLDER:REVISION instead of the distribution's source package.",
    readers.path, "PATH", common=True,
)  # fmt: skip
SOURCE_VERSION = _build(
    "source_version", ("--source-version",), "Version of the distribution's source package.",
    readers.text, "VERSION", unset="the newest",
)  # fmt: skip
SHA256 = _build("sha256", ("--sha256",), "SHA-256 that a --source tarball must have.", readers.text, "DIGEST")
PORTABLE = _build(
    "portable", ("--portable",), "Level (x86-64-v2) or processor (Nehalem) that every build must run on.",
    readers.text, "LEVEL", common=True,
)  # fmt: skip
EMULATE = _build(
    "portability", ("--emulate",), "Start every build on older processors too, emulated by qemu.",
    old=("--portability",),
)  # fmt: skip
LAYOUTS = _build(
    "layouts", ("--layouts",), "Make each build N times, each in a shuffled link order; 0 for once, without any test "
    "of layouts.",
    readers.replicates, "N", unset="6, afterwards, for what differs by less than 3 %",
)  # fmt: skip
TRAININGS = _build(
    "trainings", ("--trainings",), "Train each profile N times, each with generated keys of its own.",
    readers.replicates, "N", default="0",
)  # fmt: skip
REVERSE = _build(
    "reverse", ("--reverse", "-R"), "Patches, by name, to take out of the tree instead; 'all' for every one.",
    readers.names, "PATCH,...", many=True,
)  # fmt: skip
RELEASE = _build(
    "release", ("--release",), "The distribution's server program.",
    readers.path, "PATH", unset="the installed one, or its package",
)  # fmt: skip
SECOND_COMPILER = _build(
    "second_compiler", ("--second-compiler",), "Compiler that stands for another patch level: a name or a path.",
    readers.text, "COMPILER",
)  # fmt: skip
ENGINE_OPTION = _build(
    "engine", ("--engine",), "Engine: {engines}.", readers.text, "NAME", common=True, complete=one(completion.engines)
)
RUN_OPTION = _build(
    "run", ("--run",), "Finished run that made the variants; the beginning of its name will do.",
    readers.text, "RUN", old=("--study",), common=True, complete=one(completion.runs),
)  # fmt: skip

# --- Load ---

WORKLOADS = _load(
    "workloads", ("--workload",), "Workloads: names, .lua or .sql files; parameters after a colon, as in "
    "NAME:tables=8. --load is the same. `burnish workload list` shows them.",
    readers.workloads, "NAME,...", many=True, unset="the engine's", same=("--load",), old=("--workloads",),
    common=True, complete=several(completion.workloads),
)  # fmt: skip
THREADS = _load(
    "ladder", ("--threads",), "Client threads of each side; several numbers measure each.",
    readers.threads, "N,...", many=True, unset="the workload's", common=True,
)  # fmt: skip
SET = _load(
    "settings", ("--set",), "A server variable, or transport= unix, tcp, tls, remote (rate=100mbit, "
    "delay=1ms); storage= disk, memory, /FOLDER; allocator= libc, jemalloc and others; heap-pages= usual, "
    "huge; binlog= on, off; durability= commit, system, second; threads-by= connection, pool. Repeatable.",
    readers.verbatim, "NAME=VALUE", many=True, common=True,
)  # fmt: skip
VERSUS = _load(
    "versus", ("--versus",), "As --set, for B alone: compares conditions instead of builds. Repeatable.",
    readers.verbatim, "NAME=VALUE", many=True,
)  # fmt: skip
DEPLOY = _load(
    "deploy", ("--deploy",), "Measure ways to deploy the best build too, which change nothing that it promises: "
    "'all', names (`burnish space` lists them), or NAME=VALUE.",
    readers.names, "CHOICE,...", many=True, common=True,
)  # fmt: skip
DATA = _load(
    "data", ("--data",), "Dump or data folder for your own workloads, to copy.",
    readers.path, "PATH", common=True,
)  # fmt: skip
DATABASE = _load(
    "database", ("--database",), "Database to use, where there are several.",
    readers.text, "NAME", unset="the only one",
)  # fmt: skip
DEFAULTS_FILE = _load(
    "defaults_file", ("--defaults-file",), "A my.cnf file whose server settings are used.",
    readers.path, "FILE", common=True,
)  # fmt: skip
STRICT = _load("strict", ("--strict",), "Stop if the server's settings are poorly tuned.")

# --- How exactly ---

PRECISION = _how(
    "precision", ("--precision",), "Half-width of the interval to reach, in % of the faster side; 'none' stops at the "
    "first verdict.", readers.precision, "PERCENT", default="1%", common=True,
)  # fmt: skip
MAX_STARTS = _how(
    "max_starts", ("--max-starts",), "Maximum number of starts of each cell.", readers.integer(3, 60), "N", default="12"
)
STARTS = _how(
    "starts", ("--starts",), "Number of starts, fixed in advance, as for figures to publish.",
    readers.integer(2, 200), "N", unset="as many as the verdict takes",
)  # fmt: skip
PAIRS = _how("pairs", ("--pairs",), "Pairs in a start.", readers.integer(1, 12), "N", unset="the engine's")
DESIGN = _how(
    "design", ("--design",), "Trial design: duet (both sides under load at once), interleaved (in turn) or solo "
    "(one up at a time).", readers.design, "NAME", unset="the workload's", old=("--designs",),
    complete=one(completion.designs),
)  # fmt: skip
PLACEMENT = _how(
    "placement", ("--placement",), "Cores: shared (each server shares its half with its clients), apart (servers have "
    "half, clients the other) or whole (one side at a time on all cores).", readers.placement, "NAME",
    unset="the design's, or the workload's", complete=one(completion.placements),
)  # fmt: skip
DESIGNS = replace(
    DESIGN, field="designs", reader=readers.designs, value="NAME,...", default="duet,interleaved,solo", unset="",
    many=True, complete=several(completion.designs),
)  # fmt: skip
EXPLORE = _how(
    "explore", ("--explore",), "Explore many cells: bound the share of false verdicts (Benjamini-Hochberg) instead of "
    "the chance of any.",
)  # fmt: skip
KEEP_CACHED = _how(
    "keep_cached", ("--keep-cached",), "Launch programs as their files lie in the page cache, instead of having each "
    "start read them anew.",
)  # fmt: skip
FORCE = _how(
    "force", ("--force",), "Go on and mark the result: verdicts despite this host's failed calibration, packages "
    "despite objections.",
)  # fmt: skip
SEED = _how(
    "seed", ("--seed",), "Seed of everything random: placement, order, generated keys.", readers.integer(0), "N",
    unset="drawn anew for each run, and recorded",
)  # fmt: skip
SITTINGS = _how(
    "sittings", ("--sittings",), "Spread the starts over N sittings, one a call; the same command or `burnish resume "
    "--due` goes on.", readers.integer(1, 60), "N", default="1", common=True,
)  # fmt: skip
APART = _how("apart", ("--apart",), "Least time between two sittings.", readers.apart, "TIME", default="2h")
WHY = _how("why", ("--why",), "Sample the builds after the trials: functions before and after.", common=True)
SECONDS = _how(
    "seconds", ("--seconds",), "Seconds under load that are sampled for the explanation.",
    readers.number(2, 600), "N", unset="40, or 100 without a PMU",
)  # fmt: skip
SIMULATE = _how("simulate", ("--simulate",), "Count cache misses and branches on a simulated processor too.")

# --- Which part of a bundled study ---

ROWS = _build(
    "rows", ("--row",), "Rows of the study, by name.", readers.names, "NAME,...", many=True, unset="all",
    old=("--rows",), common=True, complete=several(completion.rows),
)  # fmt: skip
SERIES = _build(
    "series", ("--series",), "Series (compilers, word sizes), by name.", readers.names, "NAME,...",
    many=True, unset="the usual ones", common=True,
)  # fmt: skip
EVERYTHING = _build("everything", ("--all",), "All series and thread counts of the study.", common=True)
STRATEGY = _how(
    "strategy", ("--strategy",), "Search what `burnish space` shows: default, ladder, screen, eliminate, bayes "
    "or random.",
    readers.strategy, "NAME", unset="with --budget: default; else no search", common=True,
    complete=one(completion.strategies),
)  # fmt: skip
SPACE = _build("space", ("--space",), "TOML file with a space of your own to search.", readers.path, "FILE")
ALLOW = _build(
    "allow", ("--allow",), "Marks that a search may have: weakens-security, narrows-portability, changes-results.",
    readers.marks, "MARK,...", many=True,
)  # fmt: skip
PRIOR = _build(
    "prior", ("--prior",), "Earlier runs of this engine, from any host, that say what a search tries first: runs, "
    "exported records, home (every finished run here), or none.", readers.names, "RUN|FILE,...", many=True,
    unset="home",
)  # fmt: skip
GUARD = _load(
    "guards", ("--guard",), "Loads on which the search's winner must not be slower than the baseline.",
    readers.workloads, "NAME,...", many=True,
)  # fmt: skip
OBJECTIVE = _load(
    "objective", ("--objective",), "What a search is for: capacity (CPU per transaction), throughput, or p95@RATE, "
    "p99@RATE, capacity@RATE at a fixed rate of transactions a second.", readers.objective, "NAME",
    unset="as much work as possible",
)  # fmt: skip
WEIGHT = _load(
    "weights", ("--weight",), "How much a load counts in a search, LOAD=NUMBER.", readers.weights, "LOAD=N", many=True,
    unset="1 each",
)  # fmt: skip
BUDGET = _machine(
    "budget", ("--budget",),
    "Time for this session, as in 2h or 90m: what fits is run; `tune` without --variant searches in it.",
    readers.budget, "TIME", common=True,
)  # fmt: skip

# --- Machine ---

JOBS = _machine("jobs", ("--jobs",), "Parallel compile jobs.", readers.integer(1), "N", unset="all cores")
ARTEFACTS = _machine(
    "artefacts", ("--artefacts",), "Where hosts share builds, profiles and data: a folder (NFS too), or "
    "s3://BUCKET/FOLDER; 'none' for nowhere.", readers.url, "URL", unset="BURNISH_ARTEFACTS, or nowhere",
)  # fmt: skip
ARTEFACTS_GB = _machine(
    "artefacts_gb", ("--artefacts-gb",), "Size that --artefacts may reach; what was not used for longest goes first.",
    readers.number(0), "N", unset="not bounded",
)  # fmt: skip
ON_HOSTS = _machine(
    "on_hosts", ("--hosts",), "Hosts to measure on: all, kind=KIND,... or names (see `burnish hosts`).",
    readers.on_hosts, "WHICH", unset="this machine alone",
)  # fmt: skip
FRESH = _machine("fresh", ("--fresh",), "Begin a new run even if an unfinished one could be resumed.")
YES = _machine(
    YES_FIELD, ("--yes", "-y"), "Don't ask: install system packages that are missing, remove what is listed.",
    common=True,
)  # fmt: skip
QUIET = _machine("quiet", ("--quiet", "-q"), "Show no progress.")

# --- Output ---

JSON = _output("as_json", ("--json",), "Print JSON.", common=True)
DRY_RUN = _output("dry_run", ("--dry-run",), "Print the plan and stop: nothing is built.", common=True)
MARKDOWN = _output("markdown", ("--markdown",), "Give it as Markdown, for a page or a review.", common=True)
EXPORT = _output("export", ("--export",), "Print the whole record as JSON lines.")
OUTPUT = _output(
    "output", ("--output", "-o"), "File or folder to write.", readers.path, "PATH", old=("--out",), common=True
)
FORMAT = _output(
    "form", ("--format",), "What to write: html, md, csv, json, parquet.", readers.text, "FORMAT",
    unset="by the suffix of --output, else html", common=True,
)  # fmt: skip
FULL = _output("full", ("--full",), "Show everything in full.", common=True)
LIST = _output("only_list", ("--list",), "List what there is instead.", common=True)
WHOLE = _output("all_events", ("--whole",), "Everything, with the programs that were run; a report needs less.")
CHECK = _output("check", ("--check",), "Write nothing; exit with 1 where a file is not what its record says.")

# --- Groups: what a verb lists ---

SOURCES = (SOURCE, SOURCE_VERSION, SHA256)
PORTABILITY = (PORTABLE, EMULATE)
REPLICATES = (LAYOUTS, TRAININGS)
WHAT_TO_BUILD = (VARIANTS, RECIPES, FEATURES, *SOURCES, *PORTABILITY, *REPLICATES)
SEARCH = (STRATEGY, SPACE, PRIOR, ALLOW, OBJECTIVE, WEIGHT, GUARD)
LOAD = (WORKLOADS, THREADS)
DEPLOYMENT = (SET, DATA, DATABASE, DEFAULTS_FILE, STRICT)
HOW_EXACTLY = (PRECISION, MAX_STARTS, STARTS, PAIRS, DESIGN, PLACEMENT, EXPLORE, KEEP_CACHED, FORCE, SEED)
EXPLANATION = (WHY, SECONDS)
TIME = (BUDGET, DRY_RUN)
PART = (ROWS, SERIES, EVERYTHING)
SPREAD = (SITTINGS, APART)
SHARING = (ARTEFACTS, ARTEFACTS_GB)
SESSION = (*SPREAD, *SHARING, ON_HOSTS, FRESH, YES, QUIET)
