"""Synthetic tables of the study meanfield, made after given laws."""

from math import inf, log

import numpy as np
import pandas as pd

from attention_theory.meanfield import columns

PROBLEM = {"d_x": 2, "n": 5, "tasks": 32, "fresh": 64, "mean": 0.3, "spread": 0.6, "neurons": 1.2}
PROBLEM |= {"K": 12, "d_tau": 0.1, "decay": 1e-3, "steps": 18, "limit": 16}


def frame(rows, name):
    return pd.DataFrame([PROBLEM | row for row in rows])[columns.INPUTS[name]]


def gaps(depth=-1.0, width=-0.5, in_L=-0.5, noise=0.05, seeds=8, depths=(2, 4, 8, 12)):
    """Gaps that are powers of L and M, but for a random factor."""
    rng = np.random.default_rng(0)
    rows = []

    def add(name, L, M, value):
        for tau in (0.0, 1.8):
            for prompts in ("train", "fresh"):
                for seed in range(seeds):
                    gap = value * np.exp(noise * rng.standard_normal())
                    place = {"comparison": name, "L": L, "M": M, "tau": tau, "prompts": prompts}
                    rows.append(place | {"seed": seed, "gap": gap, "risk_gap": gap / 2})

    for L in (*depths, 16, 32):
        add("depth", L, inf, L**depth)
    for L in (4, 16):
        for M in (8, 64, 512):
            add("independent", L, M, M**width * L**in_L)
            add("shared", L, M, M**-0.5)
    return frame(rows, "gap")


def horizons(law, noise=0.02, seeds=5, sizes=((4, 32), (8, 128))):
    """Gaps that follow a law in tau / 30, those of parameters a saturating one."""
    rng = np.random.default_rng(0)
    rows = []
    for L, M in sizes:
        for tau in np.linspace(0, 30, 21):
            values = {"train": law(tau / 30), "fresh": 2 * law(tau / 30)}
            values["parameters"] = 1 - np.exp(-tau / 10)
            for measure, value in values.items():
                for seed in range(seeds):
                    gap = value * np.exp(noise * rng.standard_normal())
                    place = {"L": L, "M": M, "tau": tau, "measure": measure}
                    rows.append(place | {"seed": seed, "gap": gap})
    return frame(rows, "horizon")


def grid(law, noise=0.1, seeds=10, widths=(8, 32, 128)):
    """Squared gaps that are a law of both widths."""
    rng = np.random.default_rng(0)
    rows = [
        {"M_att": M_att, "M_mlp": M_mlp, "L": 4, "tau": tau, "prompts": prompts, "seed": seed}
        | {"gap": np.sqrt(law(M_att, M_mlp)) * np.exp(noise * rng.standard_normal())}
        for M_att in (*widths, inf)
        for M_mlp in (*widths, inf)
        if (M_att, M_mlp) != (inf, inf)
        for tau in (0.0, 1.8)
        for prompts in ("train", "fresh")
        for seed in range(seeds)
    ]
    return frame(rows, "widths")


def the_sum(M_att, M_mlp):
    return 0.5 / M_att + 0.2 / M_mlp


def the_minimum(M_att, M_mlp):
    return 1 / min(M_att, M_mlp)


def the_larger(M_att, M_mlp):
    """Its ratio is .83, nearer to 1 than to 1/2, though the smaller of two scaled widths rules."""
    return max(0.5 / M_att, 0.1 / M_mlp)


def risks(large=1e-5, small=1e-2, decayed=1e-4, noise=0.5, seeds=5, decays=(0.0, 1e-4)):
    """Risks that fall like exponentials from 1 to these values."""
    rng = np.random.default_rng(0)
    rows = []
    for L, M, ends in ((1, 2, (small, small)), (4, 16, (large, decayed))):
        for decay, end in zip(decays, ends, strict=False):
            for seed in range(seeds):
                last = log(end) + noise * rng.standard_normal()
                for tau in np.linspace(0, 100, 11):
                    risk = np.exp(last * min(tau / 75, 1))
                    place = {"L": L, "M": M, "decay": decay, "tau": tau, "seed": seed}
                    rows.append(place | {"risk": risk, "fresh_risk": 0.3, "norm": 4.0})
    return frame(rows, "risk")


def fits(loss, noise=0.1, seeds=3):
    rng = np.random.default_rng(0)
    sizes = {"images": 300, "parameters": 26474, "patch": 2, "width": 32, "layers": 2, "heads": 4}
    sizes |= {"mlp": 128, "batch": 32, "rate": 3e-3, "steps": 300, "accuracy": 0.9}
    rows = [
        sizes | {"seed": seed, "step": step, "test_accuracy": 0.8}
        | {"loss": loss ** (step / 300) * np.exp(noise * rng.standard_normal())}
        for seed in range(seeds)
        for step in (0, 150, 300)
    ]  # fmt: skip
    return pd.DataFrame(rows)[columns.DIGITS]


def tables(seeds):
    return {
        "gap": gaps(seeds=seeds),
        "widths": grid(the_sum, seeds=seeds),
        "horizon": horizons(lambda t: 2 - np.exp(-5 * t), seeds=seeds),
        "risk": risks(seeds=seeds),
        "digits": fits(1e-3, seeds=seeds),
    }
