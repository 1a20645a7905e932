# make figures   set up, run the workflow, print the ledger    CORES=8 GPUS=1 SEED=7 CONFIG=...
#                on a cluster (docs/clusters.md)               PROFILE=slurm
# make report    the finished run as report.zip, for a browser (options as for figures)
# make crate     the finished run as crate.zip, a Workflow Run RO-Crate (the same)
# make plan      what a run would cost, before it runs         CONFIG=... TFLOPS=40
# make test      set up, run the tests
# make compare   hold the run's ledger against the reference    LEDGER=results/laptop/claims.csv
# make benchmark measure ratios in one run (some minutes)
# make lint      set up, check style (ruff, snakefmt, snakemake --lint)
# make lock      renew envs/requirements.lock and envs/environment.yaml

PYTHON ?= $(shell command -v python3.11 || echo python3)
CORES ?= all
GPUS ?= all
LEDGER ?= results/laptop/claims.csv
export CORES GPUS SEED CONFIG PROFILE TFLOPS

# The stamp's name changes with the lock, the project file and the folder: no dates to compare.
STAMP := .venv/installed-$(shell { pwd; cat envs/requirements.lock pyproject.toml; } | cksum | cut -d' ' -f1)
RUN := .venv/bin/python -m

.PHONY: figures report crate plan test compare benchmark lint lock
.DEFAULT_GOAL := figures

figures: $(STAMP)
	@$(RUN) attention_theory.launch

report: $(STAMP)
	@$(RUN) attention_theory.report

crate: $(STAMP)
	@$(RUN) attention_theory.crate

plan: $(STAMP)
	@$(RUN) attention_theory.plan

test: $(STAMP)
	$(RUN) pytest --numprocesses auto --maxprocesses 8 --no-loadscope-reorder

compare: $(STAMP)
	@$(RUN) attention_theory.compare "$(LEDGER)"

benchmark: $(STAMP)
	@.venv/bin/python benchmarks/run.py

lint: $(STAMP)
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) snakemake --lint

lock:
	$(PYTHON) envs/check.py
	$(PYTHON) envs/lock.py

$(STAMP):
	@sh envs/setup.sh "$(PYTHON)" "$@"
