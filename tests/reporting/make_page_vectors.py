"""Writes what the script of a page must answer: data of stored releases, queries, and what `Release.query` says.

`python tests/reporting/make_page_vectors.py` rewrites `page_vectors.json`, which Python and the script are tested with.
"""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.reporting.page import page

FILE = Path(__file__).with_name("page_vectors.json")
STORED = Path(__file__).parents[1] / "formats" / "stored"
NAMES = (
    "histogram", "histogram_hours", "histogram_persons", "histogram_posterior", "histogram_rho",
    "joint_em", "joint_em_rappor",
    "joint_independent", "joint_lasso", "joint_pairs", "joint_pairs_krr", "joint_rr_ldp", "joint_subset_selection",
    "joint_tables", "local_budget", "local_krr", "local_loloha", "local_olh", "local_pgr", "local_ranges",
    "local_ranges_three", "local_rappor", "local_subset_selection", "local_sue", "marginals_shares",
    "marginals_words", "ranges_ahead_0", "ranges_ahead_1", "ranges_boost", "ranges_dates", "ranges_dst", "ranges_hats",
    "ranges_p_identity", "ranges_posterior", "ranges_prefix", "ranges_privelet", "ranges_shares", "ranges_two",
    "residual_marginals", "tree_leaves", "tree_levels",
)  # fmt: skip
REFUSED = ("nothing = 3", "share", "ratio total", "median nobody", "(total", "count by nobody")


def made(name: str) -> dict[str, Any]:
    """Return the vectors of one stored release."""
    release = load_release(STORED / name / "release")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page(release), re.DOTALL)
    assert found is not None
    asked = [*_queries(release), *REFUSED]
    return {"name": name, "data": json.loads(found[1]), "queries": [_answered(release, text) for text in asked]}


def _answered(release: Release, text: str) -> dict[str, Any]:
    try:
        found = release.query(text)
    except ValueError:
        return {"query": text, "refused": True}
    numbers = (found.value, found.standard_error, *found.interval)
    within = {} if found.within is None or found.of != "count" else {"within": [*map(float, found.within)]}
    finite = [str(one) if not math.isfinite(one) else one for one in numbers]
    return {"query": text, "of": found.of, "numbers": finite, **within}


def _queries(release: Release) -> list[str]:
    every = [_conditions(one) for one in release.schema.tabular]
    pairs = [f"{one[0]} and {other[-1]}" for one, other in itertools.pairwise(every)]
    flat = ["total", *(text for one in every for text in one), *pairs]
    shares = [f"share {one[0]}" for one in every] + [f"share {pair.replace(' and ', ' where ')}" for pair in pairs]
    ratios = [f"ratio {every[0][0]} / {one[-1]}" for one in every]
    differences = [f"count {every[0][-1]} - count {one[0]}" for one in every]
    return [*flat, *shares, *ratios, *differences, *_unions(every, release.schema.names)]


def _unions(every: list[list[str]], names: tuple[str, ...]) -> list[str]:
    """Return queries with every word that joins conditions."""
    (first, *_, last), (second, *_, other) = every[0], every[-1]
    texts = [
        f"{first} or {other}",
        f"not {second}",
        f"not ({first} and {second})",
        f"({first} or {other}) and {second}",
    ]
    texts += [f"{first} and {second} or {last} and {other}", f"count where {first}", f"count {first} where {second}"]
    texts += [
        f"share {first} or {other}",
        f"share {first} where {second} or {last}",
        f"ratio {first} or {other} / {second}",
    ]
    texts += [f"ratio {first} / {second} where {last}", f"count {first} or {second} - count {other}"]
    return [*texts, *(f"{name} is missing" for name in names), f"count {first} - count {second} where not {last}"]


def _conditions(own: Tabular) -> list[str]:
    """Return conditions of every form on one attribute, of which some cut through a cell."""
    labels, name = list(own.labels), own.name
    listed = [f'{name} = "{labels[0]}"', f'{name} != "{labels[-1]}"', f"{name} in ('{labels[0]}', \"{labels[-1]}\")"]
    listed += [f"'{name}' = \"{labels[0]}\"", f"'{labels[-1]}' != {name}"]
    for level in own.tree_levels[: own.tree_levels.index(own.level) + 1] if own.tree_levels else ():
        nodes = own.coarsened(level).labels
        listed += [f"{level} = {nodes[0]}", f"not {level} in ({nodes[0]}, {nodes[-1]})", f"{level} != {nodes[-1]}"]
    if not isinstance(own, ByEdges):
        return [*listed, f"{name} <= {labels[-2]}", f"{name} in {labels[0]}..{labels[1]}", f"{name} < {labels[1]}"]
    low, high = own.edges[[own.ordered // 4, own.ordered // 2 + 1]].tolist()
    first, last = own.inclusive(low, high)
    forms = [f"{name} in {first}..{last}", f"{name} >= {first}", f"{name} < {first}", f"{name} > {first}"]
    return [*forms, f"{name} <= {last}", f"{name} in {last}..{first}", f"{name} = {first}", *listed]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(made(name), separators=(",", ":")) for name in NAMES)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
