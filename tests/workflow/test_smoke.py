"""The smoke run: what it makes, that it repeats to the byte, and what makes which job run again."""

import importlib
import json
import os
import re
import sys
import time

import pandas as pd
import pytest
from checkout import ROOT, SMOKE, STUDIES

CONTRACTS = {
    "claims.csv": "study id statement source measured effect ci_low ci_high n verdict",
    "costs.csv": "study step setting seconds cpu_seconds peak_memory_mb images_per_second",
    "spatial/pretraining.csv": "sweep partition D C d q p nu beta omega N eta_v eta_A seed steps "
    "patch_association patch_association_max precision_at_c accuracy train_loss alpha gamma rho",
    "spatial/linear.csv": "D q d N seed classifier error",
    "spatial/transfer.csv": "D d seed attention optimiser samples draw accuracy",
    "spatial/population.csv": "trajectory D C q p nu beta alpha_0 eta_v eta_A method step alpha "
    "gamma rho risk",
    "spatial/gaussian.csv": "phi seed patch_association train_accuracy accuracy linear_accuracy "
    "gamma rho",
    "images/accuracy.csv": "dataset model attention patch permutation seed accuracy parameters",
    "images/similarity.csv": "dataset model attention patch permutation seed measure epoch state "
    "precision_at_4 chance ceiling spearman",
    "images/transfer.csv": "dataset attention positions samples seed train_loss accuracy",
    "meanfield/gap.csv": "comparison L M tau prompts seed gap risk_gap",
    "meanfield/widths.csv": "M_att M_mlp L tau prompts seed gap",
    "meanfield/horizon.csv": "L M tau measure seed gap",
    "meanfield/risk.csv": "L M decay tau seed risk fresh_risk norm",
    "meanfield/digits.csv": "seed step loss accuracy test_accuracy parameters",
    "meanfield/bounds.csv": "bound holds sup_ratio counterexample",
    "kernels/convergence.csv": "kernel training H D N n d sigma seed steps loss_0 loss",
    "kernels/stuck.csv": "case target size eps kernel H D N n d sigma seed steps loss_0 loss floor",
    "kernels/lazy.csv": "sweep kernel H D N n d sigma seed steps loss movement ntk_change",
}
NOT_DRAWN = "images/pretrained"  # the smoke run names no weights


@pytest.mark.parametrize("name", CONTRACTS)
def test_tables_keep_their_contract(smoke, name):
    table = pd.read_csv(smoke.folder / SMOKE / name, keep_default_na=False, na_values=[""])
    assert set(CONTRACTS[name].split()) <= set(table.columns) and len(table)


def test_the_ledger_has_every_claim_with_a_verdict(smoke):
    """Every claim that its study lists, and none fewer than in the committed reference."""
    ledger = pd.read_csv(smoke.folder / SMOKE / "claims.csv")
    for study in STUDIES:
        listed = importlib.import_module(f"attention_theory.{study}.claims").CLAIMS
        assert list(ledger[ledger.study == study].id) == [claim.id for claim in listed]
    reference = pd.read_csv(ROOT / "docs" / "reference" / "claims.csv")
    assert set(zip(reference.study, reference.id, strict=True)) <= set(
        zip(ledger.study, ledger.id, strict=True)
    )
    allowed = {"supported", "contradicted", "inconclusive", "not run"}
    assert set(ledger.verdict) <= allowed
    assert (smoke.folder / SMOKE / "claims.md").read_text().count("\n|") == len(ledger) + 2


def test_every_figure_is_pdf_png_and_table_and_has_a_caption(smoke):
    pdfs = sorted((smoke.folder / SMOKE).glob("*/figures/*.pdf"))
    captions = (smoke.folder / "workflow" / "report").glob("*/*.rst")
    drawn = {f"{pdf.parents[1].name}/{pdf.stem}" for pdf in pdfs}
    assert drawn == {f"{path.parent.name}/{path.stem}" for path in captions} - {NOT_DRAWN}
    for pdf in pdfs:
        content = pdf.read_bytes()
        assert content.startswith(b"%PDF") and b"/Type3" not in content, "fonts as outlines"
        assert pdf.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_csv(pdf.with_suffix(".csv")))
        study = pdf.parents[1].name
        caption = smoke.folder / "workflow" / "report" / study / f"{pdf.stem}.rst"
        assert len(caption.read_text()) > 100


@pytest.mark.parametrize("study", STUDIES)
def test_a_figure_does_not_depend_on_those_drawn_before_it(smoke, tmp_path, study):
    """By hand and in reverse order: the same bytes as in the workflow's job."""
    folder = smoke.folder / SMOKE / study
    words = json.loads((folder / "provenance" / "figures.json").read_text())["command"]
    start = words.index("--input")
    names, options = words[:start], words[start : words.index("--output")]
    module = f"attention_theory.{study}.figures"
    drawn = smoke.run(
        sys.executable, "-m", module, *reversed(names), *options, "--output", tmp_path
    )
    assert drawn.returncode == 0, drawn.stderr
    assert {path.stem for path in tmp_path.iterdir()} == set(names)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / "figures" / path.name).read_bytes(), path.name


def test_models_are_complete(smoke):
    from attention_theory import files

    models = sorted((smoke.folder / SMOKE / "spatial" / "pretraining").glob("*.npz"))
    assert models
    for path in models:
        arrays = files.read_arrays(path)
        assert {"A", "v", "feature", "partition"} <= set(arrays)
        assert arrays["A"].shape == (50, 50)


def test_every_job_left_a_record_and_a_cost(smoke):
    costs = pd.read_csv(smoke.folder / SMOKE / "costs.csv")
    records = list((smoke.folder / SMOKE).rglob("provenance/*.json"))
    after = 2  # the costs themselves, and the figure that is drawn from them
    assert len(costs) == len(records) - after > 15
    assert not costs.duplicated(["study", "step", "setting"]).any()
    for path in records:
        record = json.loads(path.read_text())
        assert record["run"] == "smoke" and len(record["config_sha256"]) == 64
        assert len(record["source_sha256"]) == 64 and record["cpu_seconds"] > 0


def test_a_second_run_has_nothing_to_do(smoke):
    done = smoke.snakemake("--cores", 2)
    assert "Nothing to be done" in done.stdout + done.stderr


def test_code_inputs_are_what_each_job_imported(smoke):
    """The declared code of every rule against the modules that its process really loaded."""
    seen = set()
    for _, job in smoke.summary().iterrows():
        if job["log-file(s)"] in seen:
            continue
        seen.add(job["log-file(s)"])
        log = (smoke.folder / job["log-file(s)"]).read_text()
        names = set(re.findall(r"\| +(attention_theory[\w.]*)$", log, flags=re.MULTILINE))
        step, piped = re.search(r"python -m ([\w.]+) ([\w.]*)", job["shellcmd"]).groups()
        names.add(step)
        if step == "attention_theory.piped":  # which runs another
            names.add(f"attention_theory.{piped}")
        imported = set()
        for name in names:
            stem = "src/" + name.replace(".", "/")
            file = next(
                s for s in (f"{stem}.py", f"{stem}/__init__.py") if (smoke.folder / s).exists()
            )
            imported.add(file)
        declared = {path for path in job["input-file(s)"].split(",") if path.startswith("src/")}
        assert declared == imported, job["rule"]
    assert len(seen) > 15


def test_touching_every_file_reruns_nothing(smoke):
    later = time.time() + 5
    for path in smoke.folder.rglob("*"):
        inside = path.relative_to(smoke.folder).parts[0]
        if path.is_file() and inside not in ("results", ".snakemake"):
            os.utime(path, (later, later), follow_symlinks=False)
    assert smoke.waiting() == set()


@pytest.mark.parametrize(
    "module",
    [
        "spatial/exact.py",
        "spatial/association.py",
        "spatial/claims.py",
        "spatial/settings.py",
        "spatial/sections.py",
        "images/claims.py",
        "images/digits.py",
        "images/sections.py",
        "kernels/ntk.py",
        "kernels/claims.py",
        "kernels/sections.py",
        "style.py",
        "meanfield/model.py",
        "meanfield/sections.py",
    ],
)
def test_editing_a_module_reruns_what_uses_it_and_nothing_else(smoke, module):
    path = smoke.folder / "src" / "attention_theory" / module
    original = path.read_text()
    try:
        path.write_text(original + "\n# an edit\n")
        waiting = smoke.waiting()
    finally:
        path.write_text(original)
    assert waiting == smoke.downstream(f"src/attention_theory/{module}")
    if module.endswith("sections.py"):
        assert waiting == set(), "what the Snakefile alone reads reruns nothing"


def test_all_asks_for_every_output(smoke):
    """Every output is an input of `all` or of a job, by name: a deleted one is missed then, even
    where nothing else needs it, as three of them show."""
    dry = smoke.snakemake("--cores", 1, "--dry-run", "--forcerun", "all")
    said = re.search(
        r"^(?:local)?rule all:\n    input: (.*)$", dry.stdout + dry.stderr, re.MULTILINE
    )
    asked = set(said[1].split(", ")).union(*(inputs for _, _, inputs in smoke.jobs))
    outputs = {output for _, output, _ in smoke.jobs}
    assert len(outputs) > 200 and outputs - asked == set()
    for ending in ("provenance/figures.json", "/figures/linear.pdf", "-seed1.safetensors"):
        path = smoke.folder / next(name for name in sorted(outputs) if name.endswith(ending))
        hidden = path.with_name(path.name + ".hidden")
        path.rename(hidden)
        waiting = smoke.waiting()
        hidden.rename(path)
        assert waiting, f"{path} is not asked for by `all`"


def test_a_removed_output_comes_back_to_the_byte(smoke):
    before = smoke.results()
    removed = [
        next(name for name in before if name.endswith(ending))
        for ending in ("pretraining/main-0.csv", "main-0-seed1.npz", "linear.png", "claims.md")
    ]
    for name in removed:
        (smoke.folder / name).unlink()
    done = smoke.snakemake("--cores", 2)
    assert done.returncode == 0, done.stderr[-3000:]
    after = smoke.results()
    assert [name for name in before if after[name] != before[name]] == []


def test_the_laptop_run_has_few_jobs_that_import_torch(smoke):
    dry = smoke.run(sys.executable, "-m", "snakemake", "--cores", 1, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    starts = re.findall(r"^(?:local)?rule (\w+):", dry.stdout + dry.stderr, flags=re.MULTILINE)
    with_torch = {  # by any of a rule's logs: a job that was repeated did not name its imports
        job["rule"]
        for _, job in smoke.summary().drop_duplicates("log-file(s)").iterrows()
        if "| torch\n" in (smoke.folder / job["log-file(s)"]).read_text()
    }
    assert {"spatial_pretraining", "images_training_none"} <= with_torch
    assert 0 < sum(start in with_torch for start in starts) <= 48, "a few dozen"
