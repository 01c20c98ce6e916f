"""What is stored: one small specification of every kind and method, by name."""

from typing import Any

import pyarrow as pa
from tests.formats.stored_case import (
    AGE,
    CLASSES,
    CODES,
    EDUCATION,
    EPSILON,
    FOUND,
    HOUR,
    INCOME,
    LENGTH,
    LINKED,
    PARTS,
    PEOPLE,
    PLACE,
    POSSIBLE,
    REGION,
    RHO,
    SEX,
    USERS,
    VISITED,
    YEARS,
    Case,
)

from dpress.data.example_people import people


def tables() -> dict[str, Case]:
    """Histograms, marginals and ranges, of a curator and of devices."""
    found = {
        "histogram": Case(attributes=[AGE, SEX], privacy=EPSILON, release={"kind": "histogram"}),
        "histogram_rho": Case(
            attributes=[SEX, CLASSES], privacy=RHO,
            release={"kind": "histogram", "postprocess": ["nonnegative", "integer"]},
        ),
        "tree_levels": Case(
            attributes=[PARTS, SEX], privacy=EPSILON, release={"kind": "histogram", "level": "initial"},
            queries=("initial = N", "initial in (E, S) and sex = Male"),
        ),
        "tree_leaves": Case(
            attributes=[PARTS | {"values": ["East", "North", "Sea", "South"], "null": "?"}], privacy=EPSILON,
            release={"kind": "histogram"}, queries=("initial = S", "not initial in (S, N)", "part = Sea"),
        ),
        "histogram_delta_replaced": Case(
            attributes=[REGION], privacy={"epsilon": 1, "delta": 1e-6, "relation": "replace-one"},
            release={"kind": "histogram"},
        ),
        "histogram_strict": Case(
            attributes=[YEARS | {"bounds": [0, 84], "bins": 5, "outside": "reject"}, SEX | {"other": "drop"}],
            privacy=EPSILON, release={"kind": "histogram", "method": "identity"}, queries=("total",),
        ),
        "histogram_persons": Case(
            attributes=[EDUCATION], privacy={"epsilon": 1, "unit": "person", "rows_per_unit": 2},
            release={"kind": "histogram"},
        ),
        "histogram_codes": Case(
            attributes=[CODES | {"other": "elsewhere"}, SEX], privacy=EPSILON, release={"kind": "histogram"},
            queries=("initial = N and sex = Female", "initial in (E, S) or where = elsewhere"),
        ),
        "regions": Case(
            attributes=[CODES, SEX, AGE], privacy=RHO,
            release={"kind": "regions", "parameters": {
                "tables": [["sex"], {"attributes": ["age"], "from": "initial"}, ["sex", "age"]],
                "invariants": {"initial": "rows"}, "records": True,
                "impossible": ["age in 0..16 and sex = Male"],
            }},
            queries=("total", "where = North and sex = Female", "sex = Male"),
        ),
        "names": Case(
            attributes=[FOUND], privacy={"epsilon": 1, "delta": 1e-6, "unit": "person", "rows_per_unit": 2},
            release={"kind": "names"}, queries=("total",),
        ),
        "statistics": Case(
            attributes=[SEX, REGION, AGE, INCOME], privacy=EPSILON,
            release={"kind": "statistics", "parameters": {
                "by": ["sex"], "mean": ["income"], "variance": ["age"], "quantiles": {"income": ["0.25", 0.5]},
                "share": ["region = Other"], "precision": {"mean income": 20000},
            }},
            queries=(
                "mean income where sex = Female", "variance age", "median income", "share region = Other",
                "count sex = Female - count sex = Male",
            ),
        ),
        "statistics_hidden": Case(
            attributes=[SEX, REGION, INCOME], privacy={"epsilon": 4}, queries=("mean income where sex = Female",),
            release={"kind": "statistics", "hide": "width > 0.5", "round": 5, "parameters":
                {"by": ["sex", "region"], "mean": ["income"], "median": ["income"]}}),
        "statistics_persons": Case(
            attributes=[SEX, INCOME], privacy={"epsilon": 1, "unit": "person", "rows_per_unit": 2},
            release={"kind": "statistics", "parameters": {
                "by": ["sex"], "persons": True, "totals": {"income": [0, 300000]}}},
            queries=("persons", "total income where sex = Female", "total income per person")),
        "statistics_distinct": Case(attributes=[SEX, REGION, YEARS], privacy={"epsilon": 1, "unit": "person"},
            queries=("distinct region where sex = Female", "distinct age", "persons", "total"), release={
                "kind": "statistics",
                "parameters": {"by": ["sex"], "distinct": ["region", "age"], "persons": True}}),
        "statistics_chosen": Case(
            attributes=[SEX, AGE, INCOME], privacy=EPSILON,
            release={"kind": "statistics", "method": "group_quantiles", "parameters": {
                "by": ["sex"], "mean": ["income"], "median": ["age"], "quantiles": {"income": [0.25, 0.75]},
                "intervals": False,
            }},
            queries=("mean income", "median age where sex = Female", "quantile 0.75 of income where sex = Male"),
        ),
        "names_gaussian": Case(
            attributes=[FOUND],
            privacy={"epsilon": 1, "delta": 1e-6, "unit": "person", "rows_per_unit": 2},
            release={"kind": "names", "method": "gaussian_threshold"}, queries=("total",),
        ),
        "statistics_discovered": Case(attributes=[FOUND, SEX, AGE], privacy={"epsilon": 8, "delta": 1e-6},
            release={"kind": "statistics", "parameters": {"by": ["region", "sex"], "mean": ["age"]}},
            queries=("mean age where sex = Female", "total")),
        "statistics_weighted": Case(attributes=[{"name": "region", "kind": "categorical", "values": "discover"}, AGE],
            privacy={"epsilon": 8, "delta": 1e-6, "unit": "person", "rows_per_unit": 5}, queries=("total", "mean age"),
            release={"kind": "statistics", "parameters": {"by": ["region"], "mean": ["age"]}},
        ),
        "statistics_rounds": Case(attributes=[{"name": "region", "kind": "categorical", "values": "discover"}, AGE],
            privacy={"epsilon": 8, "delta": 1e-6, "unit": "person", "rows_per_unit": 6}, queries=("total", "mean age"),
            release={"kind": "statistics", "parameters": {"by": ["region"], "mean": ["age"]}}),
        "statistics_bounded": Case(attributes=[SEX, INCOME], privacy={"epsilon": 8},
            release={"kind": "statistics", "parameters":
                {"by": ["sex"], "mean": ["income"], "private_bounds": ["income"]}},
            queries=("mean income where sex = Female", "total")),
        "statistics_bounds_from_outside": Case(
            attributes=[SEX, INCOME | {"bounds": [-1e6, 1e6]}], privacy={"epsilon": 8},
            release={"kind": "statistics", "parameters":
                {"by": ["sex"], "mean": ["income"], "private_bounds": ["income"]}},
            queries=("mean income where sex = Female", "total"),
        ),
        "statistics_cut": Case(attributes=[INCOME], privacy={"epsilon": 8},
            queries=("median income", "quantile 0.9 of income", "total"),
            release={"kind": "statistics", "parameters": {"by": [], "quantiles": {"income": [0.25, 0.5, 0.9]}}}),
        "statistics_relations": Case(attributes=[SEX, REGION, YEARS, INCOME], privacy={"epsilon": 8},
            queries=("coefficient age in income ~ age * region", "correlation age income where sex = Female"),
            release={"kind": "statistics", "parameters": {"by": ["sex"], "relations": ["income ~ age * region"]}}),
        "statistics_of_weights": Case(attributes=[SEX, INCOME, YEARS], privacy={"epsilon": 8},
            queries=("mean income where sex = Female", "sum age", "total", "share sex = Male"),
            release={"kind": "statistics", "parameters": {
                "by": ["sex"], "mean": ["income"], "median": ["income"], "weight": "age"}}),
        "statistics_replicates": Case(attributes=[SEX, REGION, YEARS], privacy={"rho": 2},
            queries=("share sex = Female", "sum age", "total"), release={"kind": "statistics", "parameters": {
                "by": ["region"], "share": ["sex = Female"], "weight": "age", "replicates": ["person", "income"],
                "replicate_method": "brr"}}),
        "marginals": Case(
            attributes=[AGE, SEX, REGION], privacy=EPSILON, release={"kind": "marginals", "parameters": {"ways": 2}},
            queries=("age in 17..50 and sex = Female",)),
        "residual_marginals": Case(
            attributes=[AGE, SEX, REGION], privacy=RHO,
            release={"kind": "marginals", "method": "residual_marginals", "parameters": {"ways": 2}},
            queries=("age in 17..50 and sex = Female",),
        ),
        "priview": Case(attributes=[AGE, SEX, REGION, CLASSES], privacy=EPSILON,
            release={"kind": "marginals", "method": "priview"}, queries=("age in 17..50 and sex = Female",)),
        "marginals_shares": Case(attributes=[AGE, SEX, REGION], privacy=RHO, release={"kind": "marginals",
            "parameters": {"tables": [["age", "sex"], ["region"]], "shares": ["1/3", "2/3"]}}),
        "marginals_words": Case(
            attributes=[
                AGE | {"title": "Age", "unit": "years"},
                SEX | {"title": "Sex", "labels": {"Female": "women", "Male": "men"}},
            ],
            privacy=EPSILON,
            release={
                "kind": "marginals", "method": "identity", "parameters": {"tables": [["sex"], ["sex", "age"]]},
                "title": "Who answered", "source": "made up", "contact": "nobody@example.org", "language": "en-GB",
            },
            queries=("sex = women and age in 17..50",),
        ),
        "ranges_two": Case(
            attributes=[AGE | {"null": "reject"}, CLASSES], privacy=EPSILON, release={"kind": "ranges"},
            queries=("age in 17..50 and income in 20000..45000.1",),
        ),
        "ranges_prefixes": Case(
            attributes=[YEARS], privacy=EPSILON,
            release={"kind": "ranges", "postprocess": ["monotone_prefix"], "parameters": {"queries": "prefixes"}},
        ),
        "ranges_length": Case(attributes=[INCOME], privacy=EPSILON, release=LENGTH),
        "ranges_listed": Case(
            attributes=[YEARS], privacy=EPSILON,
            release={"kind": "ranges", "parameters": {"queries": ["age in 20..29", "age in 30..39"]}},
        ),
        "ranges_dates": Case(attributes=[VISITED], privacy=EPSILON, release={"kind": "ranges"}),
        "histogram_hours": Case(attributes=[HOUR, SEX], privacy=EPSILON, release={"kind": "histogram"}),
        "ranges_posterior": Case(attributes=[INCOME], privacy=EPSILON, release={"kind": "ranges", "method": "boost"}),
        "histogram_posterior": Case(attributes=[SEX, AGE], privacy=EPSILON, release={"kind": "histogram"}),
        "histogram_hidden": Case(attributes=[SEX, AGE], privacy=EPSILON,
            release={"kind": "histogram", "hide": ["cv > 0.3", "count < 5"], "round": 3}),
        "ranges_dst": Case(attributes=[INCOME], privacy=RHO, release={"kind": "ranges", "method": "dst"}),
        "ranges_p_identity": Case(attributes=[INCOME], privacy=EPSILON,
            release={"kind": "ranges", "method": "p_identity", "parameters": {"seconds": 1}}),
        "ranges_hats": Case(attributes=[{"name": "age", "kind": "integer", "bounds": [0, 84]}], privacy=EPSILON,
            release={"kind": "ranges"}, queries=("age in 17..50",)),
        "ranges_shares": Case(attributes=[YEARS], privacy=EPSILON, release={"kind": "ranges", "method": "hierarchy",
            "parameters": {"branching": 4, "root": True, "shares": "best"}}),
    }  # fmt: skip
    for method in ("identity", "binary_tree", "boost", "privelet", "hierarchy", "prefix"):
        found[f"ranges_{method}"] = Case(
            attributes=[INCOME], privacy=EPSILON, release={"kind": "ranges", "method": method}
        )
    return found


def lists() -> dict[str, Case]:
    """Lists of queries, by every strategy over their atoms."""
    listed = ["sex = Female", "age in 17..50", "region = Other", "sex = Male or not (region in (North, East))", "total"]
    three: dict[str, Any] = {"attributes": [SEX, AGE, REGION], "queries": (listed[3], "sex = Male", "total")}
    moved = {"epsilon": 1, "relation": "replace-one", "unit": "person", "rows_per_unit": 2}
    found = {
        f"queries_{method}": Case(
            **three, privacy=EPSILON, release={"kind": "queries", "method": method, "parameters": {"queries": listed}}
        )
        for method in ("direct_queries", "identity", "p_identity")
    }
    release = {"kind": "queries", "parameters": {"queries": listed}}
    for name, privacy in {"rho": RHO, "persons": moved, "delta": {"epsilon": 1, "delta": 1e-6}}.items():
        found[f"queries_{name}"] = Case(**three, privacy=privacy, release=release)
    return found


def collections() -> dict[str, Case]:
    """One attribute by every oracle, and several of them."""
    small = {"rappor": {"bits": 16, "cohorts": 2}}
    found = {
        f"local_{method}": Case(
            attributes=[EDUCATION], privacy=PEOPLE,
            release={"kind": "histogram", "method": method, "parameters": small.get(method, {})},
        )
        for method in (
            "krr", "oue", "sue", "olh", "subset_selection", "hadamard", "rappor", "rr_ldp", "pcep", "pgr", "loloha",
        )
    }  # fmt: skip
    found["local_spoiled"] = Case(
        attributes=[EDUCATION], privacy=PEOPLE, spoiled=True,
        release={"kind": "histogram", "method": "subset_selection", "parameters": {"round": 3}},
    )  # fmt: skip
    visited = {"name": "visited", "kind": "date", "bounds": ["2024-01-10", "2024-12-31"], "cells": "month"}
    found["local_dates"] = Case(attributes=[visited], privacy=PEOPLE, release={"kind": "histogram"},
        queries=("visited in 2024-02..2024-04", "visited = 2024-Q4"))  # fmt: skip
    found["local_ranges"] = Case(
        attributes=[YEARS], privacy=PEOPLE, queries=("age in 22..33",),
        release={"kind": "ranges", "postprocess": ["top_down"], "parameters": {"branching": 6}},
    )  # fmt: skip
    found["local_ranges_three"] = Case(
        attributes=[YEARS, EDUCATION, INCOME], privacy=PEOPLE, release={"kind": "ranges"},
        queries=(
            "age in 22..33", "age in 22..33 and education = Master", "mean age where income < 25000",
            "age < 40 and education = Master and income < 25000",
        ),
    )  # fmt: skip
    numbers = {"mean": ["income", "age"], "variance": ["income"], "quantiles": {"income": ["0.25", 0.5]}}
    found["local_statistics"] = Case(
        attributes=[SEX, YEARS, INCOME], privacy=PEOPLE, exact=False,
        release={"kind": "statistics", "parameters": {"by": ["sex"], **numbers}},
        queries=("mean income where sex = Female", "variance income", "median income", "mean age", "total"),
    )  # fmt: skip
    for name in ("piecewise", "one_bit"):
        found[f"local_{name}"] = Case(
            attributes=[YEARS], privacy=PEOPLE, queries=("mean age", "sum age"),
            release={"kind": "statistics", "method": name, "parameters": {"by": [], "mean": ["age"]}},
        )  # fmt: skip
    found["local_circular"] = Case(
        attributes=[YEARS], privacy=PEOPLE, exact=False, queries=("circular mean age", "resultant length age"),
        release={"kind": "statistics", "parameters": {"by": [], "circular": ["age"]}},
    )  # fmt: skip
    for name in ("users", "budget"):
        found[f"local_{name}"] = Case(
            attributes=[SEX, AGE, REGION], privacy=PEOPLE, release={"kind": "marginals",
                "postprocess": ["norm_sub", "integer"], "parameters": {"ways": 1, "split": name}},
        )  # fmt: skip
    return found


def joints() -> dict[str, Case]:
    """Joint distributions."""
    asked, pair = {"model": "local", "epsilon": 3}, "sex = Female and region = North"
    three: dict[str, Any] = {"attributes": [SEX, EDUCATION, REGION], "privacy": asked}
    found = {
        f"joint_{method}": Case(
            **three | {"queries": (pair,) * (method != "independent")}, release={"kind": "joint", "method": method}
        )
        for method in ("em", "lasso", "lremh", "rr_ldp", "independent", "subset_selection")
    }
    return found | {
        "joint_pairs": Case(
            **three, release={"kind": "joint", "method": "pairs", "parameters": {"ways": 2}},
            queries=(pair, f"{pair} and education = Master"),
        ),
        "joint_pairs_krr": Case(
            **three, release={"kind": "joint", "method": "pairs", "parameters": {"ways": 2, "oracle": "krr"}},
            queries=(pair,),
        ),
        "joint_tables": Case(
            attributes=[SEX, REGION, EDUCATION], privacy=EPSILON, release={"kind": "joint", "parameters": {"order": 2}},
            queries=("sex = Female and education = Master", "sex = Female and education = Master and region = Other"),
        ),
        "joint_tables_triples": Case(
            attributes=[SEX, REGION, EDUCATION], privacy={"epsilon": 1, "delta": 1e-6},
            release={"kind": "joint", "parameters": {"order": 3}},
        ),
        "joint_em_rappor": Case(
            attributes=[SEX, EDUCATION], privacy={"model": "local", "epsilon": 8},
            release={"kind": "joint", "method": "em", "parameters": {"reports": "rappor", "bits": 8}},
        ),
    }  # fmt: skip


def maps() -> dict[str, Case]:
    """Maps by devices and by a curator, and what devices answer in rounds."""
    found = {
        f"map_{method}": Case(
            attributes=[PLACE], privacy=PEOPLE, unproven=method == "psda", exact=method != "dam",
            release={"kind": "spatial", "method": method, "parameters": {"height": 3} | own},
        )
        for method, own in {
            **{name: {} for name in ("gtr", "gtr_top_down", "n_gtr", "qt_krr", "qt_rappor", "dam", "krr", "hadamard")},
            "psda": {"region_levels": [0, 1], "epsilons": [1, 2]},
            "n_psda": {"height": 2},
        }.items()
    }  # fmt: skip
    found["strings"] = Case(
        attributes=[{"name": "age", "kind": "categorical", "values": "discover"}],
        privacy={"model": "local", "epsilon": 8}, rounds=2, queries=("total",),
        release={"kind": "strings", "parameters": {"users": USERS, "longest": 1, "kept": 8}},
    )  # fmt: skip
    found["sets"] = Case(
        attributes=[REGION], privacy=PEOPLE, queries=("set size", "total"),
        release={"kind": "sets", "parameters": {"users": USERS, "cap": 2}},
    )  # fmt: skip
    found["ranges_ahead"] = Case(
        attributes=[AGE], privacy=PEOPLE, rounds=2, queries=("age in 17..33", "mean age"),
        release={"kind": "ranges", "method": "ahead", "parameters": {"users": USERS, "rounds": 2}},
    )  # fmt: skip
    found["map_ahead"] = Case(
        attributes=[PLACE], privacy=PEOPLE, rounds=2,
        release={"kind": "spatial", "method": "ahead", "parameters": {"height": 3, "rounds": 2}},
    )  # fmt: skip
    for method, own in {"quadtree": {"height": 3}, "adaptive_grid": {"side": 2}, "uniform_grid": {"side": 4}}.items():
        found[f"census_{method}"] = Case(
            attributes=[PLACE | {"outside": "drop"}], privacy=EPSILON,
            release={"kind": "spatial", "method": method, "parameters": {"users": USERS} | own},
        )  # fmt: skip
    found["census_least_squares"] = Case(
        attributes=[PLACE], privacy=RHO,
        release={
            "kind": "spatial", "method": "quadtree",
            "parameters": {"users": USERS, "height": 3, "reconstruction": "least_squares"},
        },
    )  # fmt: skip
    return found


def records() -> dict[str, Case]:
    """Records."""
    attributes = [AGE | {"null": "reject"}, SEX, REGION]
    proven = {
        "dp_prototypes": {"clusters": 2, "rounds": 1},
        "graphical": {},
        "insensitive_microaggregation": {"group": 20},
        "per_record": {},
    }
    published = {"mdav": {"group": 20}, "dp_k_prototypes": {"clusters": 2}}
    found = {
        f"records_{method}": Case(
            attributes=attributes, privacy={"epsilon": 8}, unproven=method not in {"dp_prototypes", "graphical"},
            release={"kind": "microdata", "method": method, "parameters": {"users": USERS} | own},
        )
        for method, own in {**proven, **published}.items()
    }  # fmt: skip
    return found | {
        "records_representative": Case(
            attributes=[*attributes, CLASSES], privacy={"rho": 4},
            release={
                "kind": "microdata", "method": "dp_prototypes",
                "parameters": {"users": USERS, "clusters": 2, "rounds": 1, "rows": "representative"},
            },
        ),
        "records_graphical_again": Case(
            attributes=[*attributes, CLASSES], privacy={"rho": 0.5},
            release={"kind": "microdata", "method": "graphical", "parameters": {"users": USERS}},
        ),
        "records_possible": POSSIBLE, "records_linked": LINKED,
        "records_influence": Case(
            attributes=attributes, privacy={"epsilon": 8}, unproven=True,
            release={"kind": "microdata", "method": "dp_k_prototypes",
                     "parameters": {"users": USERS, "clusters": 2, "starts": "random", "weights": "influence"}},
        ),
    }  # fmt: skip


CASES = tables() | lists() | collections() | joints() | maps() | records()


def visitors() -> pa.Table:
    """Return the people of all cases but maps, with a time and a day each."""
    ticks = pa.array(range(1_704_067_200, 1_704_067_200 + USERS * 100_000, 100_000), pa.timestamp("s", "UTC"))
    return people(USERS).append_column("at", ticks).append_column("visited", ticks.cast(pa.date32()))
