# Needs Python >= 3.11 (with venv) and make; everything else goes into .venv-*/ here.

.DELETE_ON_ERROR:
.PHONY: help demo examples test check docs kernels replays format bench clean

CANDIDATES := python3.11 python3.12 python3.13 python3.14 python3 python
PYTHON ?= $(firstword $(foreach p,$(CANDIDATES),$(shell \
	$(p) -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo $(p))))

# Processes that run tests at once.
JOBS ?= 2
# Tests that run a second time with the compiler off.
UNCOMPILED ?= tests/laws
# Anything else for pytest or the benchmarks, for example ARGS='-k rosenbrock'.
ARGS ?=

help:
	@echo 'make demo   install, run the demonstration, write its tables and pictures'
	@echo 'make examples  install, run all examples, write their pictures'
	@echo 'make test   install, run all tests, the laws once more without the compiler'
	@echo 'make check  lint, formatting, types, import contracts'
	@echo 'make docs   build the documentation into build/docs, warnings as errors'
	@echo 'make format rewrite the sources in the one format'
	@echo 'make bench  measure speed against other packages, a quarter of an hour (ARGS=--all: everything)'
	@echo 'make clean  remove environments, caches and outputs'

demo: .venv-demo/installed
	.venv-demo/bin/python -m examples.demo
	@echo '.venv-demo/bin/python is a Python that has the package, ready to use.'

examples: .venv-demo/installed
	.venv-demo/bin/python -m examples

# Threads of BLAS that wait for a core spin: with them a test can take ten times as long.
test: export OPENBLAS_NUM_THREADS = 1
test: .venv-test/installed
	.venv-test/bin/python -m pytest -n $(JOBS) $(ARGS)
	NUMBA_DISABLE_JIT=1 .venv-test/bin/python -m pytest -n $(JOBS) \
		-m 'not slow and not bench' $(UNCOMPILED) $(ARGS)

check: .venv-test/installed
	.venv-test/bin/ruff check
	.venv-test/bin/ruff format --check
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports

docs: .venv-test/installed
	.venv-test/bin/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs

# What is compiled is kept on disk: compiled here, no process that tests does it anew.
kernels: .venv-test/installed
	.venv-test/bin/python -m tests.laws._bits >/dev/null

replays: .venv-test/installed
	.venv-test/bin/python -m tests._replay_ahead

format: .venv-test/installed
	.venv-test/bin/ruff check --fix
	.venv-test/bin/ruff format

bench: .venv-bench/installed
	.venv-bench/bin/python -m benchmarks $(ARGS)

clean:
	rm -rf .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist demo-output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv-demo/installed: EXTRAS := demo
.venv-test/installed: EXTRAS := test,check,docs
.venv-bench/installed: EXTRAS := bench

.venv-%/installed: pyproject.toml
	@test -n '$(PYTHON)' || { echo 'No Python >= 3.11 with venv found; name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@echo 'Installing into .venv-$* with $(PYTHON); this takes a minute or two ...'
	rm -rf .venv-$*
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[$(EXTRAS)]'
	touch $@
