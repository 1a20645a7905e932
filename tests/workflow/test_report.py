"""`make report`: what it holds, how a browser shows it, what it says of a run that is not finished.

`pytest tests/workflow/test_report.py --basetemp=FOLDER` keeps the screenshots below FOLDER.
"""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import browser
import pandas as pd
import pytest
from checkout import SMOKE, STUDIES, Checkout

REPORT = (sys.executable, "-m", "attention_theory.report")
ASKED = {"CONFIG": "config/smoke.yaml", "GPUS": "0"}


@pytest.fixture(scope="module")
def report(smoke, tmp_path_factory) -> Path:
    """The unpacked report of the smoke run: its page."""
    done = smoke.run(*REPORT, **ASKED)
    assert done.returncode == 0, done.stderr
    drawn = len(list((smoke.folder / SMOKE).glob("*/figures/*.pdf")))
    said = f"report.zip: {drawn} figures, "
    assert done.stdout.startswith(said) and done.stdout.count("\n") == 1
    folder = tmp_path_factory.mktemp("report")
    with zipfile.ZipFile(smoke.folder / "report.zip") as archive:
        archive.extractall(folder)
    (smoke.folder / "report.zip").unlink()
    return folder / "report" / "report.html"


@pytest.fixture(scope="module")
def seen(report, smoke, tmp_path_factory):
    """What a headless Chromium shows of the report, clicked through as a reader would."""
    if browser.PROGRAM is None:
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    folder = tmp_path_factory.mktemp("seen")
    with browser.Browser(folder) as page:
        page.open(report)
        page.until(lambda: page.run("document.querySelectorAll('nav li').length > 5"), "the menu")
        found = {"front": page.run("document.body.innerText"), "menu": page.run(MENU)}
        page.photograph(folder / "front.png")
        click(page, "claims")
        press(page, 0)
        page.until(lambda: page.run("!!document.querySelector('iframe')"), "the ledger")
        page.photograph(folder / "ledger.png")
        found["pictures"] = {study: pictures(page, study, folder) for study in STUDIES}
        ledger = next(report.parent.rglob("claims.html"))
        page.open(ledger)
        found["claims"] = page.run("document.querySelectorAll('td.id').length")
        page.run("document.querySelector('label[for=contradicted]').click()")
        found["shown"] = page.run(
            "[...document.querySelectorAll('td.id')].filter(x => x.offsetParent).length"
        )
        page.photograph(folder / "claims.png")
        found["requests"] = page.requests
    return found | {"outside": page.asked_outside, "folder": folder}


MENU = "[...document.querySelectorAll('nav a span')].map(x => x.innerText).filter(x => x)"
# The eye of a result is the first link of its row.
EYES = "[...document.querySelectorAll('tbody tr')].map(x => x.querySelector('a'))"


def click(page, text: str) -> None:
    """Click the entry of the menu that reads so."""
    found = f"[...document.querySelectorAll('nav ul a')].find(x => x.innerText.trim() == '{text}')"
    page.until(lambda: page.run(f"!!{found}"), f"the menu's {text}")
    page.run(f"{found}.click()")


def press(page, number: int) -> None:
    page.until(lambda: page.run(f"{EYES}.length > {number}"), "results")
    page.run(f"{EYES}[{number}].click()")


def pictures(page, study: str, folder: Path) -> list[str]:
    """The figures of a study that are seen when their eyes are pressed, by the names of files."""
    home = "document.querySelector('nav ol a')"
    page.run(f"{home}.click()")
    click(page, study)
    click(page, "figures")
    page.until(lambda: page.run(f"{EYES}.length > 0"), "figures")
    found = []
    for number in range(page.run(f"{EYES}.length")):
        press(page, number)
        state = "(i => i && i.complete && i.src != window.last && i)"
        image = f"{state}(document.querySelector('img:not(nav img)'))"
        page.until(lambda image=image: page.run(f"!!{image}"), f"figure {number} of {study}")
        width, source = page.run(f"(i => [i.naturalWidth, window.last = i.src])({image})")
        assert width > 300, source
        found.append(Path(source).name)
    page.photograph(folder / f"{study}.png")
    return found


def test_the_report_holds_every_figure_table_and_the_ledger(report, smoke):
    held = {path.relative_to(report.parent).parts[-1] for path in report.parent.rglob("*.png")}
    assert held == {path.name for path in (smoke.folder / SMOKE).glob("*/figures/*.png")}
    tables = sorted(path.name for path in report.parent.rglob("*.csv"))
    wanted = [*(smoke.folder / SMOKE).glob("*/*.csv"), *(smoke.folder / SMOKE).glob("*.csv")]
    assert tables == sorted(path.name for path in wanted)
    assert (next(report.parent.rglob("claims.html"))).read_text().count("<tr class") == len(
        pd.read_csv(smoke.folder / SMOKE / "claims.csv")
    )


def test_every_result_has_a_caption_and_its_study(report):
    text = report.read_text(encoding="utf-8")
    results, categories = (
        json.JSONDecoder().raw_decode(text.split(f'<script id="{name}">\n    var {name} = ')[1])[0]
        for name in ("results", "categories")
    )
    assert set(categories) == {"claims", "costs", *STUDIES}
    for study in STUDIES:
        assert set(categories[study]) == {"figures", "tables"}
        for name in sum(categories[study].values(), []):
            assert name.startswith(f"results/smoke/{study}/")
    for name, result in results.items():
        assert len(result["caption"]) > 100 and result["labels"], name


def test_a_browser_shows_every_figure(seen, smoke):
    for study in STUDIES:
        folder = smoke.folder / SMOKE / study / "figures"
        assert sorted(seen["pictures"][study]) == sorted(path.name for path in folder.glob("*.png"))


def test_a_browser_shows_the_front_page_and_the_ledger(seen, smoke):
    assert "run smoke (base seed 1)" in seen["front"]
    assert seen["menu"][3:] == ["claims", "costs", *sorted(STUDIES)], "the ledger comes first"
    ledger = pd.read_csv(smoke.folder / SMOKE / "claims.csv")
    assert seen["claims"] == len(ledger)
    assert seen["shown"] == (ledger.verdict == "contradicted").sum()


def test_no_request_leaves_the_machine(seen):
    assert seen["requests"] and seen["outside"] == []
    assert {address.partition(":")[0] for address in seen["requests"]} <= {"file", "data", "blob"}


def test_a_request_that_leaves_would_be_seen(tmp_path):
    if browser.PROGRAM is None:
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    (tmp_path / "inner.html").write_text("<img src='http://outside.invalid/picture.png'>")
    (tmp_path / "outer.html").write_text("<iframe src='inner.html'></iframe>")
    with browser.Browser(tmp_path) as page:
        page.open(tmp_path / "outer.html")
    assert page.asked_outside == ["http://outside.invalid/picture.png"]


def said(done) -> str:
    """The one line of a refusal."""
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_run_that_is_not_finished(smoke):
    table = smoke.folder / SMOKE / "spatial" / "linear.csv"
    hidden = table.with_suffix(".hidden")
    table.rename(hidden)
    try:
        line = said(smoke.run(*REPORT, **ASKED))
    finally:
        hidden.rename(table)
    assert "results/smoke is not a finished run of this configuration and code: " in line
    assert "spatial_table_linear" in line
    assert "`make figures CONFIG=config/smoke.yaml GPUS=0` makes it" in line


def test_another_seed_is_another_run(smoke):
    line = said(smoke.run(*REPORT, **ASKED, SEED="5"))
    assert "of base seed 1, not 5; `make figures CONFIG=config/smoke.yaml SEED=5 GPUS=0`" in line


def test_no_run_at_all(smoke):
    line = said(smoke.run(*REPORT))
    assert "results/laptop holds no finished run; `make figures` makes it" in line


def test_results_that_came_from_elsewhere(smoke, tmp_path):
    """Copied without Snakemake's records: a report all the same, and one line that says so."""
    other = Checkout(tmp_path)
    shutil.copytree(smoke.folder / SMOKE, other.folder / SMOKE)
    done = other.run(*REPORT, **ASKED)
    assert done.returncode == 0 and done.stderr.count("\n") == 1, done.stderr
    assert "files of results/smoke, which came from elsewhere" in done.stderr
    assert (other.folder / "report.zip").is_file()
    assert "of base seed 1, not 5" in said(other.run(*REPORT, **ASKED, SEED="5"))
