# Everything runs in a virtual environment of its own; python3 >= 3.11 with venv, git and make are all it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

export OPENBLAS_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE # tests start many processes, which should find compiled code
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help setup demo test test-all matrix ci client client-test lint style types site check docs bench data known-paper reproduce clean

help:
	@echo "make demo    publish made-up people and write the report"
	@echo "make test    the tests (a few minutes); make test-all also those that search longest"
	@echo "make matrix MINUTES=30   random whole cases as long as that; SEED=2 for others; what is wrong in out/matrix.json"
	@echo "make client  the browser client's bundles, built by npm in clients/js"
	@echo "make lint    lint, types, imports, docs (under a minute)"
	@echo "make check   the same and the fast tests (a few minutes)"
	@echo "make docs    the pages under site/"
	@echo "make bench   speed, memory and timing, as JSON (minutes)"
	@echo "make data    what the documents' data sets are and where they come from; FROM=folder converts downloaded originals"
	@echo "make reproduce PAPER=ranges   a document's experiments: tables, figures, a verdict per claim, its page in docs/papers; also PAPER=joint, PAPER=spatial, PAPER=microdata"
	@echo "make clean   remove what these commands made"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dpress needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/dpress demo --out out/demo

test: setup client-test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not long"

test-all: setup client-test
	$(BIN)/python -m pytest -n 2 --dist worksteal

MINUTES ?= 10
SEED ?= 1

matrix: setup
	MATRIX_MINUTES='$(MINUTES)' MATRIX_SEED='$(SEED)' $(BIN)/python -m pytest -q -n0 tests/matrix -k random_cases

ci: lint client-test # with -j 2 these run beside each other, and the tests, which start make themselves, after them
	MAKEFLAGS= $(BIN)/python -m pytest -n 2 --dist worksteal

client:
	cd clients/js && npm install --silent && npm run --silent check && npm run --silent build

# Without node or the network this says so and goes on, unless CLIENT=required.
client-test:
	@cd clients/js && why= && \
	if ! command -v npm >/dev/null; then why="there is no npm"; \
	elif ! npm install --silent; then why="npm install failed"; fi && \
	if [ -n "$$why" ]; then echo "$$why: the browser client is not tested" >&2; [ "$(CLIENT)" != required ]; \
	else npm run --silent check && npm run --silent test; fi

lint: style types site

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

site: setup
	$(BIN)/mkdocs build --strict

check: lint
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

docs: site

bench: setup
	@mkdir -p out
	$(BIN)/python bench/start.py > out/bench-start.json
	$(BIN)/python bench/install_size.py > out/bench-install-size.json
	$(BIN)/python bench/noise.py > out/bench-noise.json
	$(BIN)/python bench/publish.py > out/bench-publish.json
	$(BIN)/python bench/devices_numbers.py > out/bench-devices-numbers.json
	$(BIN)/python bench/devices_sets.py > out/bench-devices-sets.json
	$(BIN)/python bench/device_predictions.py > out/bench-device-predictions.json
	$(BIN)/python bench/persons.py > out/bench-persons.json
	$(BIN)/python bench/partition_selection.py > out/bench-partition-selection.json
	$(BIN)/python bench/ranges.py > out/bench-ranges.json
	$(BIN)/python bench/range_speed.py > out/bench-range-speed.json
	$(BIN)/python bench/query_lists.py > out/bench-query-lists.json
	$(BIN)/python bench/accounting.py > out/bench-accounting.json
	$(BIN)/python bench/residual_marginals.py > out/bench-residual-marginals.json
	$(BIN)/python bench/trees.py > out/bench-trees.json
	$(BIN)/python bench/regions.py --whole > out/bench-regions.json
	$(BIN)/python bench/spine_squares.py > out/bench-spine-squares.json
	$(BIN)/python bench/oracle_speed.py > out/bench-oracle-speed.json
	$(BIN)/python bench/devices.py > out/bench-devices.json
	$(BIN)/python bench/oracle_accuracy.py > out/bench-oracle-accuracy.json
	$(BIN)/python bench/mixture.py > out/bench-mixture.json
	$(BIN)/python bench/pairs.py > out/bench-pairs.json
	$(BIN)/python bench/joint_plan.py > out/bench-joint-plan.json
	$(BIN)/python bench/spatial.py > out/bench-spatial.json
	$(BIN)/python bench/map_choice.py > out/bench-map-choice.json
	$(BIN)/python bench/microdata.py > out/bench-microdata.json
	$(BIN)/python bench/wide.py > out/bench-wide.json
	$(BIN)/python bench/kinds.py > out/bench-kinds.json
	$(BIN)/python bench/group_statistics.py > out/bench-group-statistics.json
	$(BIN)/python bench/relations.py > out/bench-relations.json
	$(BIN)/python bench/weighted.py > out/bench-weighted.json
	$(BIN)/python bench/households.py > out/bench-households.json
	$(BIN)/python bench/kills.py > out/bench-kills.json
	$(BIN)/python bench/private_bounds.py > out/bench-private-bounds.json
	$(BIN)/python bench/service.py > out/bench-service.json
	$(BIN)/python bench/collecting.py > out/bench-collecting.json
	$(BIN)/python bench/reports.py > out/bench-reports.json
	rm -rf out/sql
	$(BIN)/python bench/sql.py write out/sql && $(BIN)/python bench/sql.py dpress out/sql
	-$(PYTHON) -m venv out/smartnoise && out/smartnoise/bin/python -m pip install --quiet smartnoise-sql pyarrow && \
		out/smartnoise/bin/python bench/sql.py smartnoise out/sql
	-$(PYTHON) -m venv out/qrlew && out/qrlew/bin/python -m pip install --quiet pyqrlew 'sqlalchemy<2.1' duckdb pandas && \
		out/qrlew/bin/python bench/sql.py qrlew out/sql
	-$(PYTHON) -m venv out/tumult && out/tumult/bin/python -m pip install --quiet tmlt.analytics && \
		out/tumult/bin/python bench/sql.py tumult out/sql 2
	$(BIN)/python bench/sql.py table out/sql > out/bench-sql.json
	$(PYTHON) -m venv out/peers && out/peers/bin/python -m pip install --quiet kmodes
	$(BIN)/python bench/microdata_speed.py --peers out/peers/bin/python > out/bench-microdata-speed.json
	-out/peers/bin/python -m pip install --quiet daft 'dask[dataframe]' ray 'opendp[polars]' diffprivlib 'scikit-learn<1.6' pipeline-dp
	$(BIN)/python bench/engines.py --peers out/peers/bin/python out/tumult/bin/python > out/bench-engines.json
	-cd clients/js && npm install --silent && npm run --silent bench > ../../out/bench-client.json
	$(BIN)/python bench/page.py out > docs/explanations/benchmarks.md
	@ls out/bench-*.json

data: setup
	$(BIN)/python papers/data.py $(if $(FROM),--from '$(FROM)')

PAPER ?= ranges

known-paper:
	@case '$(PAPER)' in ranges | joint | spatial | microdata) ;; \
	*) echo 'PAPER=$(PAPER): expected ranges, joint, spatial or microdata' >&2; exit 2 ;; esac

reproduce: known-paper setup
	$(BIN)/python papers/$(PAPER).py --out out/papers/$(PAPER) --docs docs/papers

clean:
	rm -rf clients/js/node_modules clients/js/dist out site .venv .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
