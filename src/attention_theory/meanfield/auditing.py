"""The audit of one statement: its searches, the verdict, the simplest counterexample."""

import json

import torch

from attention_theory.meanfield import counterexamples, density, jacobian_bounds, mlp_bounds
from attention_theory.meanfield.bounds import DENSITY, Bound
from attention_theory.meanfield.bounds_settings import Search, Size
from attention_theory.meanfield.search import Matrices, ascend, draw, ratios, reach, take

CHECKS = jacobian_bounds.CHECKS | mlp_bounds.CHECKS


def audit(bound: Bound, search: Search, base_seed: int) -> tuple[dict, list[dict]]:
    """The row of a statement in bounds.csv and the rows of its searches."""
    if bound.form == DENSITY:
        return _audit_density(bound, search, base_seed)
    check = CHECKS[bound.name]
    searches: list[dict] = []
    example, place = None, None
    for size in search.all_sizes():
        points = _search_size(bound, size, search, base_seed, searches)
        if example is None:
            example, place = counterexamples.simplest(bound, check, points), size
    row = _row(bound, search, searches, counterexamples.limit(bound))
    row["holds"] = bool(row["sup_ratio"] <= row["limit"])
    if example is not None:
        text = counterexamples.to_json(check, example)
        again = float(ratios(check, counterexamples.from_json(text)))
        row["holds"] = False if again > row["limit"] else None
        sides = {side: json.loads(text)[side] for side in ("left", "right")}
        row |= {"counterexample": text, **sides}
        row |= {"counterexample_D": place.D, "counterexample_N": place.N}
    return row, searches


def _search_size(
    bound: Bound, size: Size, search: Search, base_seed: int, searches: list[dict]
) -> Matrices:
    """Random draws and ascent at one size for all seeds; the best points of both, a batch."""
    check = CHECKS[bound.name]
    batches, drawn = [], []
    for seed in range(search.seeds):
        points = draw(bound, size, search.draws, base_seed, seed)
        found = ratios(check, points)
        drawn.append(float(found.max()))
        # The best draws; with them the first ones, which may lie under another peak.
        order = found.argsort(descending=True, stable=True)
        half = (search.starts + 1) // 2
        rows = torch.cat([order[:half], torch.arange(search.starts - half)])
        batches.append(take(points, rows))
    starts = {name: torch.cat([batch[name] for batch in batches]) for name in bound.matrices}
    climbed, steps = ascend(check, starts, search.steps, reach(bound) + 1)
    tops = ratios(check, climbed).reshape(search.seeds, -1).amax(1).tolist()
    for seed in range(search.seeds):
        common = {"bound": bound.name, "stated": bound.stated, "form": bound.form, **size._asdict()}
        common |= {"seed": seed}
        searches += [
            common
            | {"search": "random", "evaluations": search.draws, "sup_ratio": drawn[seed]},
            common
            | {"search": "ascent", "evaluations": search.starts * steps, "sup_ratio": tops[seed]},
        ]  # fmt: skip
    return {name: torch.cat([starts[name], climbed[name]]) for name in bound.matrices}


def _row(bound: Bound, search: Search, searches: list[dict], limit: float) -> dict:
    """What is common to every statement; where it holds nothing else is filled in."""
    top = max(searches, key=lambda row: row["sup_ratio"])
    return {
        "bound": bound.name,
        "stated": bound.stated,
        "form": bound.form,
        "statement": bound.statement,
        "where_stated": bound.where,
        "sup_ratio": top["sup_ratio"],
        "limit": limit,
        "sup_D": top["D"],
        "sup_N": top["N"],
        "evaluations": sum(row["evaluations"] for row in searches),
        "sizes": search.sizes,
        "seeds": search.seeds,
        "correction": bound.correction or None,
        **dict.fromkeys("counterexample counterexample_D counterexample_N left right".split()),
    }


def _audit_density(bound: Bound, search: Search, base_seed: int) -> tuple[dict, list[dict]]:
    """A density: the ratio is the smallest error of any fit over the error that must be reached.

    It fails where the fits stay above that error and a lower bound for every network says why.
    """
    best = density.audit(bound.name, base_seed, search.seeds)
    D = density.tasks(bound.name)[0].columns.shape[1]
    found = {"bound": bound.name, "stated": bound.stated, "form": bound.form, "D": D, "N": 1}
    found |= {"seed": 0, "search": "fit", "evaluations": best.fitted}
    found |= {"sup_ratio": best.error / density.ERROR}
    row = _row(bound, search, [found], 1.0) | {"sizes": f"{D}x1"}
    row["holds"] = True if best.error <= density.ERROR else None
    annihilator = density.tasks(bound.name)[0].annihilator
    if annihilator is not None and density.lower_bound(annihilator) > density.ERROR:
        sides = {"left": density.lower_bound(annihilator), "right": density.ERROR}
        row |= {"holds": False, "counterexample": json.dumps(annihilator | sides), **sides}
        row |= {"counterexample_D": D, "counterexample_N": 1}
    return row, [found]
