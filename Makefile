# make test    sets up what the tests need, then runs them: the fast ones, then those that drive real servers
# make lint    ruff and mypy        make fmt    formats        make lock    pins the newest allowed versions
#
# YES=1 (or CI=true) installs missing system packages without asking.

YES ?= $(filter true 1,$(CI))
yes := $(if $(YES),--yes)
python := .venv/bin/python
packages := base-build clang bolt sysbench sqlite-build mariadb-build mariadb-run mtr

.PHONY: test fast real lint fmt lock environment packages

# One after the other, and real last: a measurement wants the machine for itself.
test: packages
	$(python) -m pytest -m "not real" -n 2 --dist worksteal --durations 15
	$(python) -m pytest -m real --durations 5

fast: environment
	$(python) -m pytest -m "not real" -n 2 --dist worksteal --durations 15

real: packages
	$(python) -m pytest -m real --durations 5

lint: environment
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy --strict

fmt: environment
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

environment:
	@BURNISH_PREPARE=dev ./burnish $(yes)

packages: environment
	@$(python) -m burnish.system $(yes) $(packages)

# Needs uv (pip install uv). The locks hold every platform's digests, so that they serve on any Debian.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --annotation-style line \
		--no-emit-index-url --no-emit-find-links --extra checkout --output-file requirements.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --annotation-style line \
		--no-emit-index-url --no-emit-find-links --extra checkout --extra dev \
		--constraints requirements.lock --output-file requirements-dev.lock pyproject.toml
