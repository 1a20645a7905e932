"""The ledger as a page: every claim, whatever its text, and nothing from outside."""

import math
import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import claims, ledger_page

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)


def ledger(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=claims.COLUMNS)


@given(st.lists(st.tuples(TEXT, st.sampled_from(claims.VERDICTS)), min_size=1, max_size=6))
def test_every_claim_is_a_row_and_its_text_is_text(found):
    rows = [
        ("s", f"T{i}", text, text, text, 0.5, 0.1, 0.9, 3, v) for i, (text, v) in enumerate(found)
    ]
    page = ledger_page.page(ledger(*rows), "run")
    for verdict in claims.VERDICTS:
        number = sum(v == verdict for _, v in found)
        assert page.count(f'<tr class="row-{verdict.replace(" ", "-")}">') == number
        assert f">{number} {verdict}</label>" in page
    tags = set(re.findall(r"<([a-z0-9]+)", page))
    allowed = (
        "html head meta title style body h1 h2 p b input label section table tr th td small span"
    )
    assert tags <= set(allowed.split())


def test_effects_with_and_without_an_interval():
    rows = [
        ("s", "A", "a", "", "", 0.25, 0.125, 0.5, 12, "supported"),
        ("s", "B", "b", "", "", 1.0, 1.0, math.inf, 6540, "contradicted"),
        ("s", "C", "c", "", "", 3.0, math.nan, math.nan, 7, "supported"),
        ("t", "D", "d", "", "", math.nan, math.nan, math.nan, 0, "not run"),
    ]
    page = ledger_page.page(ledger(*rows), "run")
    assert "0.25<small>[0.125, 0.5], n = 12</small>" in page
    assert "1<small>[1, ∞), n = 6540</small>" in page
    assert "3<small>n = 7</small>" in page
    assert ">–</td>" in page and page.count("<section>") == 2


def test_a_page_asks_for_nothing():
    page = ledger_page.page(ledger(("s", "A", "a", "b", "c", 1, 1, 1, 1, "supported")), "a <run>")
    assert "a &lt;run&gt;" in page
    assert not re.search(r"https?:|src=|href=|@import|url\(|<script", page)
