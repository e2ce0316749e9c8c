# make test    sets up what the tests need, then runs them: the fast ones, then those that drive real servers
# make lowest  tries the lowest allowed versions of the dependencies
# make lint    ruff and mypy        make fmt    formats        make lock    pins the newest allowed versions
#
# YES=1 (or CI=true) installs missing system packages without asking.

YES ?= $(filter true 1,$(CI))
yes := $(if $(YES),--yes)
python := .venv/bin/python
packages := base-build clang-oldest clang-newest linkers allocators tls sysbench sqlite-build mariadb-build mariadb-run mtr postgresql-build postgresql-run browser valgrind

.PHONY: test fast real lowest lint fmt lock environment packages

# The fast ones have more workers than two cores could serve: most of their time a fake server is under load for as long
# as it takes, however much of a core it gets.
#
# What measures comes last and by itself: it wants the machine. The other real tests compile one file (SQLite), start a
# server or apply patches, so that two of them fit; a file's tests stay together, since they share what it built, and
# files keep the order of tests/conftest.py, where xdist would put the longest one last: it has only one test.
fast_part := $(python) -m pytest --part fast -m "not real" -n 4 --dist worksteal --durations 15
real_part := $(python) -m pytest --part real -m "real and not measures" -n 2 --dist loadfile --no-loadscope-reorder --durations 5
measures_part := $(python) -m pytest --part measures -m "real and measures" --durations 5

# Runs all parts, whatever becomes of those before; each ends with a line of its own (tests/support/closing.py). What
# one part has built of SQLite, a later one finds. The real tests leave half a core idle, as their longest is one chain
# of builds: a command in BESIDE runs with them at low priority (.ci/run), and has ended before anything is measured.
define run_parts
@failed=; BURNISH_TEST_KEPT=$$(mktemp -d) && export BURNISH_TEST_KEPT && trap 'rm -rf "$$BURNISH_TEST_KEPT"' EXIT; \
$(foreach part,$(1),$(if $(and $(BESIDE),$(filter real,$(part))),nice -n 10 $(BESIDE) & )$($(part)_part) || failed="$$failed $(part)"; wait; )test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }
endef

test: packages
	$(call run_parts,fast real measures)

fast: environment
	$(call run_parts,fast)

real: packages
	$(call run_parts,real measures)

# Burnish with the lowest versions of everything that pyproject.toml allows, in an environment of its own.
lowest: environment
	.ci/lowest

lint: environment
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy --strict
	$(python) -m mypy --config-file tests/mypy.ini tests benchmarks

fmt: environment
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

environment:
	@BURNISH_PREPARE=dev ./burnish $(yes)

packages: environment
	@$(python) -m burnish.base.system $(yes) $(packages)

# Needs uv (pip install uv). The locks hold every platform's digests, so that they serve on any Debian.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --annotation-style line \
		--no-emit-index-url --no-emit-find-links --extra checkout --output-file requirements.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --annotation-style line \
		--no-emit-index-url --no-emit-find-links --extra checkout --extra dev \
		--constraints requirements.lock --output-file requirements-dev.lock pyproject.toml
