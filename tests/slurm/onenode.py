"""A Slurm of one node on this machine, as root and without systemd; gone when it is closed.

Slurm reads its configuration at one place of the machine (the plugin strips SLURM_CONF): a machine
that has one there has a Slurm of its own, which is left alone.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

CONFIGURATION = Path("/etc/slurm")
WRITTEN = [CONFIGURATION / name for name in ("slurm.conf", "gres.conf")]
MARK = "# For the tests of attention-theory; removed at their end."
SLURM = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MinJobAge=600
KillWait=5
OverTimeLimit=0
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
# Devices that every machine has stand for GPUs: Slurm hands out names, nothing is computed on them.
GRES = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"


def impossible() -> str:
    """Why there cannot be such a Slurm here; empty if there can."""
    missing = [name for name in ("slurmctld", "slurmd", "munged") if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurm-wlm and munge)"
    if os.geteuid() != 0:
        return "a Slurm for tests needs root"
    there = [path for path in WRITTEN if path.exists() and MARK not in path.read_text()]
    if there:
        return f"this machine has a Slurm of its own ({there[0]})"
    if not subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode:
        return "other tests use this machine's Slurm"
    return ""


class OneNode:
    """The daemons, and the queue as the tests see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: list[subprocess.Popen] = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def queue(self) -> list[str]:
        """The ids of all jobs that wait, run, or come to their end."""
        return _ask("squeue", "--noheader", "--format=%i").split()

    def job(self, job: str) -> dict[str, str]:
        """What Slurm knows of a job, also some minutes after its end."""
        words = _ask("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def close(self) -> None:
        """End what was started, jobs first, and remove what was written."""
        with contextlib.suppress(subprocess.CalledProcessError, AssertionError):
            _ask("scancel", "--me")
            _until(lambda: not self.queue())
        for path in WRITTEN:
            path.unlink(missing_ok=True)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self) -> None:
        host = socket.gethostname().split(".")[0]
        cpus, memory = max(4, os.cpu_count()), psutil.virtual_memory().total // 2**20 - 512
        CONFIGURATION.mkdir(exist_ok=True)
        slurm = SLURM.format(host=host, folder=self.folder, cpus=cpus, memory=memory)
        for path, content in zip(WRITTEN, (slurm, GRES), strict=True):
            path.write_text(f"{MARK}\n{content}")
        if subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode:
            for place in ("/run/munge", "/var/log/munge", "/var/lib/munge"):
                subprocess.run(["install", "-d", "-o", "munge", "-g", "munge", place], check=True)
            self._daemon("runuser", "-u", "munge", "--", "munged", "--foreground")
            _until(lambda: not subprocess.run(["munge", "-n"], capture_output=True).returncode)
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D", "-N", host)
        _until(lambda: _ask("sinfo", "--noheader", "--format=%T", check=False).strip() == "idle")

    def _daemon(self, *command: str) -> None:
        with (self.folder / f"{len(self.daemons)}.log").open("w") as log:
            words = ["setpriv", "--pdeathsig", "TERM", *command]  # gone with this process
            self.daemons.append(
                subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
            )


def _ask(*command: str, check: bool = True) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=check).stdout


def _until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    ended = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ended, "Slurm did not come up"
        time.sleep(0.1)
