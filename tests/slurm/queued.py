"""A workflow of small jobs that go through the profile `slurm`, behind the project's launcher."""

import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from checkout import OUTSIDE, ROOT

RESULTS = Path("results", "tiny", "study")
LAUNCH = (sys.executable, "-m", "attention_theory.launch")

# Rules in the form of the project's; what a job does, job.py says by the job's name.
SNAKEFILE = """
from attention_theory import rules as ours
from attention_theory import running

configfile: "config/config.yaml"
GPUS = ours.gpus(workflow)
ours.prepare_environment(config)

onstart:
    running.hold()

rule all:
    input: expand("results/tiny/study/{job}.csv", job=config["jobs"]),
    localrule: True

for kind, gpu in {"plain": 0, "endless": 0, "gpu": ours.gpu(config, GPUS)}.items():
    rule:
        name: kind
        output:
            table="results/tiny/study/{job}.csv",
            provenance="results/tiny/study/provenance/{job}.json",
        log: "results/tiny/study/logs/{job}.log"
        wildcard_constraints: job=f"{kind}_.*"
        resources:
            gpu=gpu,
            mem_mb=ours.scaled(100),
            runtime=1 if kind == "endless" else ours.scaled(30),
        retries: 0 if kind == "endless" else None  # None: as the profile says
        shell:
            "python job.py {wildcards.job} --memory {resources.mem_mb} --output {output.table:q}"
            " --provenance {output.provenance:q} 2>&1 | tee {log:q}"
"""

# Every job holds a lock of its name: a second one at the same time would be seen, however the first
# ended. So are two jobs on one device.
JOB = '''
import fcntl, os, time
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import files, step
from attention_theory.errors import BadInput

Named = Annotated[Path, typer.Option()]

def note(line):
    with Path("journal").open("a") as journal:
        print(line, file=journal, flush=True)

def hold(name):
    slot = os.open(f"{name}.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note(f"twice {name}")

def wait(seconds, condition=lambda: False):
    ended = time.monotonic() + seconds
    while not condition() and time.monotonic() < ended:
        time.sleep(0.1)

def both_gpu_jobs_run():
    return Path("journal").read_text().count("start gpu_") > 1

def main(job: Annotated[str, typer.Argument()], memory: Annotated[int, typer.Option()],
         output: Named, provenance: Named) -> None:
    """What its name says."""
    hurried = "HURRIED" in os.environ
    hold(job)
    device = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if device:
        hold(f"device-{device}")
    note(f"start {job} {device}")
    with step.record(provenance, "tables", study="study", step=job):
        with files.replacing(output) as temporary:
            temporary.write_text(f"job,device\\n{job},{device}\\n")
            if job.startswith("gpu_"):
                wait(120, both_gpu_jobs_run)
            if job == "plain_fails":
                raise BadInput("a bad value")
            if job == "plain_grows" and memory < 200:
                raise BadInput("too little memory")
            if job.startswith(("endless_", "plain_long")) and not hurried:
                wait(600)
    note(f"end {job}")

step.run(main)
'''
LEDGER = "study,id,statement,source,measured,effect,ci_low,ci_high,n,verdict\n"
COSTS = (
    "study,step,setting,seconds,cpu_seconds,startup_cpu_seconds,peak_memory_mb,images_per_second\n"
)


class Queued:
    """The workflow in a folder of its own; `profile` is the project's with these changes."""

    def __init__(self, folder: Path, *jobs: str, **profile: object) -> None:
        self.folder = folder
        (folder / "config").mkdir(parents=True)
        shutil.copytree(ROOT / "workflow" / "profiles", folder / "profiles")
        shutil.copytree(folder / "profiles" / "slurm", folder / "profiles" / "mysite")
        site = folder / "profiles" / "mysite" / "config.yaml"
        site.write_text(yaml.safe_dump(yaml.safe_load(site.read_text()) | profile))
        (folder / "Snakefile").write_text(SNAKEFILE)
        config = {"run": "tiny", "device": "auto", "jobs": list(jobs)}
        (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
        (folder / "job.py").write_text(JOB)
        (folder / RESULTS).mkdir(parents=True)
        (folder / "journal").write_text("")
        (folder / RESULTS.parent / "claims.csv").write_text(LEDGER)
        (folder / RESULTS.parent / "costs.csv").write_text(COSTS)

    def start(self, **changes: str) -> subprocess.Popen:
        """`make figures PROFILE=mysite`, but for the set-up, in a process group of its own."""
        path = f"{ROOT / 'src'}:{OUTSIDE.get('PYTHONPATH', '')}"
        here = {"PYTHONPATH": path, "PROFILE": "mysite"}
        return subprocess.Popen(
            LAUNCH, cwd=self.folder, env=OUTSIDE | here | changes,
            start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def launch(self, **changes: str) -> tuple[int, str]:
        """The same to its end: exit status and standard error."""
        with self.start(**changes) as process:
            _, said = process.communicate()
        return process.returncode, said

    def journal(self, word: str) -> list[str]:
        """What jobs noted under a word: `start`, `end`, `twice`."""
        noted = (self.folder / "journal").read_text().splitlines()
        lines = [line.split(maxsplit=1) for line in noted]
        return [rest.strip() for first, rest in lines if first == word]

    def outputs(self) -> set[str]:
        """The tables that are there, half-written ones too."""
        return {path.name for path in (self.folder / RESULTS).glob("*csv*")} | {
            path.name for path in (self.folder / RESULTS).glob(".*")
        }

    def ids(self, rule: str) -> list[str]:
        """The Slurm ids of a rule's jobs with a wildcard, in order."""
        logs = (self.folder / ".snakemake" / "slurm_logs").rglob(f"{rule}/*.log")
        return sorted((path.stem for path in logs), key=int)
