"""A workstation with several GPUs, on a machine that may have none: the driver is a fake one."""

import json
import shutil
import subprocess
from itertools import combinations

import pytest
import tiny
from checkout import OUTSIDE, ROOT, Checkout

GPUS = 3
DRIVER = """
#include <stdlib.h>
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int *number) {
    const char *listed = getenv("CUDA_VISIBLE_DEVICES");
    *number = listed && *listed ? 1 : %d;
    for (; listed && *listed; listed++) *number += *listed == ',';
    return 0;
}
"""
# Six jobs in the form of the project's trainings; each says what it saw, and when.
SNAKEFILE = """
from attention_theory import rules as ours

configfile: "config/config.yaml"
GPUS = ours.gpus(workflow)
ours.prepare_environment(config)

rule all:
    input: expand("results/tiny/{job}.json", job=range(6))

rule train:
    output: "results/tiny/{job}.json"
    log: "results/tiny/{job}.log"
    resources: gpu=ours.gpu(config, GPUS)
    shell: "python step.py {output:q} {resources.gpu} 2>&1 | tee {log:q}"
"""
STEP = """
import json, os, sys, time
from attention_theory import devices

gpu = int(sys.argv[2])
if gpu:
    devices.take_slots(gpu)
started = time.monotonic()
time.sleep(0.5)
seen = os.environ["CUDA_VISIBLE_DEVICES"] if gpu else "none"
with open(sys.argv[1], "w") as file:
    json.dump([seen, started, time.monotonic()], file)
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """The environment of a machine with three GPUs and no other jobs on them."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc) to make a fake driver with")
    folder = tmp_path_factory.mktemp("driver")
    (folder / "cuda.c").write_text(DRIVER % GPUS)
    library = str(folder / "libcuda.so.1")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "cuda.c"], check=True)
    return {"LD_LIBRARY_PATH": str(folder), "TMPDIR": str(folder), "CORES": "6"}


def start(folder, driver, **options):
    """`make figures` of the six jobs, but for the set-up."""
    workflow = tiny.Tiny(folder)
    (folder / "Snakefile").write_text(SNAKEFILE)
    (folder / "step.py").write_text(STEP)
    (folder / "config" / "config.yaml").write_text("{run: tiny, device: auto}\n")
    environment = OUTSIDE | {"PYTHONPATH": str(ROOT / "src")} | driver | options
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    return subprocess.Popen(
        tiny.LAUNCH, cwd=workflow.folder, env=environment, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def seen(folder, process):
    """What the jobs of a run saw, and from when to when: (device, start, end) each."""
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return [json.loads(path.read_text()) for path in (folder / tiny.RESULTS).glob("?.json")]


def at_once(jobs):
    """The pairs of jobs that ran at the same time."""
    return [(a, b) for a, b in combinations(jobs, 2) if a[1] < b[2] and b[1] < a[2]]


def test_jobs_at_once_see_a_gpu_each_and_two_runs_share_them(tmp_path, driver):
    """Two runs that may use all three GPUs start up to six jobs at once: three of them wait."""
    folders = [tmp_path / name for name in ("it's one", "the other")]
    running = [start(folder, driver) for folder in folders]
    jobs = [job for pair in zip(folders, running, strict=True) for job in seen(*pair)]
    assert len(jobs) == 12
    assert {device for device, *_ in jobs} == {"0", "1", "2"}
    assert at_once(jobs) and all(a[0] != b[0] for a, b in at_once(jobs))


def test_no_more_jobs_at_once_than_gpus_given(tmp_path, driver):
    jobs = seen(tmp_path / "x", start(tmp_path / "x", driver, GPUS="1"))
    assert len(jobs) == 6 and not at_once(jobs)
    assert {device for device, *_ in jobs} <= {"0", "1", "2"}


def test_gpus_0_stays_on_the_cpu_although_there_are_some(tmp_path, driver):
    (tmp_path / "slots").mkdir()
    run = start(tmp_path / "x", driver | {"TMPDIR": str(tmp_path / "slots")}, GPUS="0")
    jobs = seen(tmp_path / "x", run)
    assert len(jobs) == 6 and {device for device, *_ in jobs} == {"none"}
    assert not list((tmp_path / "slots").glob("*gpu*"))


@pytest.mark.parametrize(("gpus", "commands"), [(0, {"--gpu 0"}), (2, {"--gpu 1"})])
def test_the_projects_own_trainings(tmp_path, driver, gpus, commands):
    """All that can use a GPU are given one, or none; no other job is."""
    done = Checkout(tmp_path / "x").snakemake(
        "--cores", 2, "--resources", f"gpu={gpus}", "--dry-run", "--printshellcmds", **driver
    )
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines() if line.startswith("Shell command: ")]
    found = {word for line in shown for word in ("--gpu 0", "--gpu 1") if f"{word} " in line}
    assert found == commands
    assert sum("--gpu" in line for line in shown) >= 10
