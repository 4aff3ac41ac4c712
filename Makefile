# The two commands of the README, and what stands beside them. Everything is installed into .venv (to use) and
# .venv-test (with the test tools), by Python's own venv and pip.
PYTHON ?= python3
RUN := .venv/bin
TEST := .venv-test/bin
# one more than there are cores, as some wait for compilers that they share
WORKERS ?= 3
# tests that lie together share what they set up and compile: a worker takes them in a row
SIDE_BY_SIDE = -n $(WORKERS) --dist worksteal
FIGURE_2 := --source 3.2 --destinations 5.0,3.1,0.4,1.4,0.5,1.5,5.5
GANTT := --source 0 --destinations 1,4,9,13,18,25,30 --length 384 --packet 128 --t-hs 500 --t-hr 500 --ratio 4

.PHONY: demo test test-all usual-tests all-tests browser compiled lint types docs bench costs figures verdicts tables ports prove clean

demo: .venv/ready
	$(RUN)/wormcast demo --out out

# three things at a time: types are checked while what all tests need is compiled
test: .venv-test/ready
	$(MAKE) --no-print-directory --jobs 3 lint types usual-tests

test-all: .venv-test/ready
	$(MAKE) --no-print-directory --jobs 3 lint types all-tests

# what every worker would compile at first is compiled once
compiled: .venv-test/ready
	$(TEST)/python tests/warm_command.py

usual-tests: compiled
	$(TEST)/python -m pytest $(SIDE_BY_SIDE) --durations 20

all-tests: compiled
	$(TEST)/python -m pytest $(SIDE_BY_SIDE) -m "slow or not slow"

browser: .venv-test/ready
	$(TEST)/python -m pytest -m browser tests/sim/waves/view

lint: .venv-test/ready
	$(TEST)/ruff check .

types: .venv-test/ready
	$(TEST)/mypy

docs: .venv-test/ready
	$(TEST)/python -m tools.reference build/docs
	$(TEST)/python -m sphinx --fail-on-warning --keep-going --quiet -c docs -d build/doctrees build/docs out/site
	@echo "site: out/site/index.html"

bench: .venv-test/ready
	$(TEST)/python -m tools.bench

costs: .venv-test/ready
	$(TEST)/python -m tools.costs

prove: .venv-test/ready
	PYTHONPATH=tests $(TEST)/python -m proofs --page docs/proofs.md

figures: .venv-test/ready
	mkdir -p out
	$(TEST)/wormcast topology mesh:3x3x3 --plot docs/topology.svg
	$(TEST)/wormcast plan mesh:6x6 dual-path $(FIGURE_2) --plot docs/plan_dual-path.svg
	$(TEST)/wormcast plan mesh:6x6 u-mesh $(FIGURE_2) --plot docs/plan_u-mesh.svg
	$(TEST)/wormcast run mesh:4x4 u-mesh --source 1.1 --destinations 0,1,2,3,4,6,7,8,9,10,11,12,13,14,15 --length 40 --t-hs 30 --t-hr 20 --plot docs/gantt.svg
	$(TEST)/wormcast run irregular:seed=1 k-binomial --configuration sivaram_32 --ni fpfs $(GANTT) --plot docs/gantt_smart.svg
	$(TEST)/wormcast run irregular:seed=1 binomial --configuration sivaram_32 $(GANTT) --plot docs/gantt_conventional.svg
	$(TEST)/wormcast run mesh:1x4 k-binomial --ni fpfs --source 0 --destinations 1,2,3 --length 48 --packet 16 --t-hs 100 --t-hr 100 --t-ns 5 --t-nr 40 --receive-queue 2 --plot docs/receive_queue.svg
	$(TEST)/wormcast check mesh:4x4 dual-path --consumption 1 --plot docs/cycle.svg || [ $$? = 3 ]  # a deadlock
	$(TEST)/wormcast run mesh:1x4 dual-path --vcs 1 --absorb 1 --messages examples/table1.jsonl --vcd out/table1.vcd || [ $$? = 3 ]
	$(TEST)/wormcast wave out/table1.vcd --plot docs/table1.svg
	$(TEST)/wormcast run examples/networks/star.toml tree --messages examples/deep.jsonl --buffer-kind deep --buffer 32 --chunk 8 --vcs 1 --consumption 1 --vcd out/deep.vcd
	$(TEST)/wormcast wave out/deep.vcd --worms 1 --buffers s0 --plot docs/deep.svg
	$(TEST)/wormcast load mesh:8x8 dual-path --rate 0.012 --plot docs/utilisation.svg
	$(TEST)/wormcast sweep examples/boppana_8x8.toml --out out/boppana_8x8 --plot docs/boppana_8x8.svg
	cd examples && ../$(TEST)/wormcast sweep compare.toml --out ../out/compare --plot ../docs/compare.svg
	$(TEST)/wormcast demo --out out/demo && cp out/demo/figure4.svg docs/

# hours; with QUICK=--quick minutes
# PAPERS=003 runs one paper, and keeps the verdicts on the others
PAPERS = all

verdicts: .venv-test/ready
	mkdir -p out/figures && cp -r docs/verdicts out/figures/
	$(TEST)/wormcast figure $(PAPERS) $(QUICK) --out out/figures
	cd out/figures && cp -r papers.md verdicts ../../docs/ && \
	for file in $$(grep -o '([^ ()]*\.svg)' papers.md | tr -d '()'); do test ! -e $$file || cp $$file ../../docs/; done
	test ! -e out/figures/001-cost-scatter.svg || cp out/figures/001-cost-scatter.svg docs/cost.svg

tables: .venv-test/ready
	$(TEST)/python -m tools.tables docs/synthesis.md

ports: .venv-test/ready
	$(TEST)/python -m tools.port_page

.venv/ready: pyproject.toml
	@echo "installing wormcast into .venv: about 130 MB to download, 440 MB on disk"
	$(PYTHON) -m venv .venv
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv-test/ready: pyproject.toml
	@echo "installing wormcast and its test tools into .venv-test: about 300 MB to download"
	$(PYTHON) -m venv .venv-test
	$(TEST)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@

clean:
	rm -rf .venv .venv-test out build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
