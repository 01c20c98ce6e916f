"""The specification of a case, as plain objects, and the queries that it is asked."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.matrix.axes import UNPROVEN, Case, kind_of, of_devices
from tests.matrix.columns import COLUMNS, COST, MISSING, OTHER, Column
from tests.matrix.tables import LEFT_OUT, THIRD, beside_of, has_third, weighs

LOSSES: Mapping[tuple[str, str], dict[str, float]] = {
    ("epsilon", "large"): {"epsilon": 100},
    ("epsilon", "small"): {"epsilon": 0.5},
    ("rho", "large"): {"rho": 100},
    ("rho", "small"): {"rho": 0.05},
    ("delta", "large"): {"epsilon": 100, "delta": 1e-7},
    ("delta", "small"): {"epsilon": 0.5, "delta": 1e-7},
}
DEVICES = {"large": {"epsilon": 12}, "small": {"epsilon": 1}}
ADJUSTMENTS = {
    "none": [], "nonnegative": ["nonnegative"], "integer": ["integer"], "both": ["nonnegative", "integer"],
    "monotone prefix": ["monotone_prefix"], "top down": ["top_down"], "norm sub": ["norm_sub"],
    "simplex": ["simplex"], "base cut": ["base_cut"],
}  # fmt: skip
SHOWN: Mapping[str, dict[str, Any]] = {
    "all": {}, "hide": {"hide": "cv > 0.3"}, "round": {"round": 5},
    "hide and round": {"hide": ["width > 0.5", "count < 10"], "round": 3},
}  # fmt: skip
OF_METHOD: Mapping[tuple[str, str], dict[str, Any]] = {
    **{("spatial", name): {"height": 3} for name in ("quadtree",)},
    **{("spatial", name): {"side": 4} for name in ("uniform_grid", "adaptive_grid")},
    **{("spatial of devices", name): {"height": 2} for name in ("gtr", "gtr_top_down", "n_gtr", "qt_krr", "qt_rappor")},
    **{("spatial of devices", name): {"height": 2} for name in ("dam", "n_psda", "psda")},
    ("spatial of devices", "ahead"): {"height": 2, "rounds": 2},
    ("ranges of devices", "ahead"): {"rounds": 2},
    ("microdata", "insensitive_microaggregation"): {"group": 2},
    ("microdata", "dp_k_prototypes"): {"clusters": 2, "restarts": 1},
    ("histogram of devices", "rappor"): {"bits": 32, "cohorts": 4},
    ("marginals of devices", "rappor"): {"bits": 32, "cohorts": 4},
    ("strings of devices", "pem"): {"longest": 1, "kept": 8},
    ("strings of devices", "auto"): {"longest": 1, "kept": 8},
}  # fmt: skip
EXACTLY_USERS = ("insensitive_microaggregation", "per_record")  # as many records are released
OF_THE_COLUMN = ("share", "relations", "distinct")  # statistics of the first attribute, where it makes no groups
TAKE_USERS = ("spatial", "microdata", "statistics", "names")


def spec_of(case: Case, folder: Path) -> dict[str, Any]:
    """Return the specification of a case.

    Args:
        case: a value of every axis.
        folder: for the file of a hierarchy.
    """
    plain = {
        "attribute": attributes_of(case, folder),
        "privacy": privacy_of(case),
        "release": {
            "kind": kind_of(case),
            "method": case["method"],
            "attributes": released(case),
            "parameters": parameters_of(case),
            "postprocess": ADJUSTMENTS[str(case["adjusted"])],
        }
        | SHOWN[str(case["shown"])],
    }
    if case["where"] != "none":
        plain["data"] = {"where": where_of(case)}
    if case["periods"] != "none":
        persons = {} if case["unit"] == "row" else {"per_unit": 2}
        plain["periods"] = {"attribute": "day", "counter": case["periods"]} | persons
    return plain


def where_of(case: Case) -> str:
    """Return the condition of the rows: over columns that nothing is published of, or over the first attribute."""
    if case["where"] == "another column":
        return "kept = yes and score >= 2"
    if case["column"] == "place":  # which is refused
        return f"{case['named']} != here"
    return f"{case['named']} != {listed_of(case)[LEFT_OUT]}"


def released(case: Case) -> list[Any]:
    """Return the attributes of the release: statistics are of those that make groups or are measured."""
    names = [case["named"], *(["beside"] if case["beside"] != "none" else [])]
    if kind_of(case) == "statistics":
        names = [
            *grouped_of(case).get("by", []),
            *(
                []
                if case["asked"] == "distinct" or (case["asked"] == "share" and case["grouped"] == "no")
                else ["cost"]
            ),
        ]
        names += [case["named"]] * (case["asked"] in OF_THE_COLUMN and case["grouped"] == "no")
        names += ["heavy"] * weighs(case)
    names += ["third"] * has_third(case)
    return names + ["day"] * (case["periods"] != "none")


def privacy_of(case: Case) -> dict[str, Any]:
    """Return whom the promise is to, and how much of a loss."""
    if of_devices(case) and case["loss"] == "epsilon":
        plain: dict[str, Any] = {"model": "local"} | DEVICES[str(case["budget"])]
    else:
        plain = {"model": "local" if of_devices(case) else "central"}
        plain |= LOSSES[str(case["loss"]), str(case["budget"])]
    plain["relation"] = case["relation"]
    if case["unit"] != "row":
        plain |= {"unit": "uid", "rows_per_unit": 3 if case["unit"] == "person of three" else 1}
    return plain


def amounts_of(case: Case) -> dict[str, float]:
    """Return the numbers of the budget by name."""
    return {name: value for name, value in privacy_of(case).items() if name in ("epsilon", "rho", "delta")}


def attributes_of(case: Case, folder: Path) -> list[dict[str, Any]]:
    """Return the attributes: the column that the case is about, then those beside it."""
    column = COLUMNS[str(case["column"])]
    found = [{"name": case["named"]} | column.attribute | strays_of(case, column) | words_of(case, column, folder)]
    if case["beside"] != "none":
        found.append({"name": "beside"} | beside_of(case).attribute)
    if kind_of(case) == "statistics":
        found.append({"name": "cost"} | COST.attribute | ({"null": "reject"} if of_devices(case) else {}))
    if weighs(case):
        found.append(COST.attribute | {"name": "heavy", "column": "cost"})
    if has_third(case):
        found.append({"name": "third", "kind": "ordinal", "values": list(THIRD)})
    if case["periods"] != "none":
        months = {"kind": "date", "bounds": ["2024-01-01", "2024-04-30"], "cells": "month"}
        found.append({"name": "day"} | months)
    return found


def strays_of(case: Case, column: Column) -> dict[str, Any]:
    """Return where values go that no cell is listed for."""
    if column.discovered:
        return {"other": OTHER}
    outside, missing = str(case["outside"]), str(case["missing"])
    if column.listed:
        return {"other": OTHER if outside == "cell" else outside, "null": MISSING if missing == "cell" else missing}
    where = (
        {} if column.attribute.get("cells") == "hour of day" else {"outside": "clamp" if outside == "cell" else outside}
    )
    return where if column.columns else where | {"null": MISSING if missing == "cell" else missing}


def words_of(case: Case, column: Column, folder: Path) -> dict[str, Any]:
    """Return what pages call the attribute and its values."""
    if case["words"] == "labels":
        return {"labels": {label: f"Label of {label}" for label in column.labels}}
    if case["words"] == "hierarchy":
        path = folder / "hierarchy.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = [["value", "level1"], *([one, "all of them"] for one in [*column.labels])]
            csv.writer(file).writerows(lines)
        return {"hierarchy": str(path)}
    return {"title": "A <b>title</b>", "unit": "years & days"} if case["words"] == "title" else {}


def parameters_of(case: Case) -> dict[str, Any]:
    """Return the parameters of the release."""
    own = dict(OF_METHOD.get((str(case["room"]), str(case["method"])), {}))
    users = max(1, int(str(case["rows"])))
    if (of_devices(case) or kind_of(case) in TAKE_USERS) and stated(case):
        own["users"] = max(users, 2) if kind_of(case) == "microdata" else users
    elif case["method"] in EXACTLY_USERS:
        own["users"] = 40
    if kind_of(case) == "statistics":
        return own | grouped_of(case) | statistics_of(case)
    return own | ASKED_FOR.get(str(case["asked"]), _nothing)(case) | needed_of(case)


def stated(case: Case) -> bool:
    """Return whether `users` is stated; bounds are looked for in many rows, and a few are refused."""
    return case["users"] == "stated" and case["asked"] != "private bounds"


def needed_of(case: Case) -> dict[str, Any]:
    """Return the parameters that a kind cannot do without."""
    if case["room"] == "queries":
        name, labels = case["named"], listed_of(case)
        return {"queries": [f"{name} = {labels[0]}", f"not ({name} = {labels[0]})", "total"]}
    return {"cap": 2 if case["asked"] == "cap of two" else 1} if kind_of(case) == "sets" else {}


def listed_of(case: Case) -> list[str]:
    """Return two cells of the first attribute, as a query names them."""
    column = COLUMNS[str(case["column"])]
    return [quoted(one) for one in column.labels[:2]] or [*RANGES[str(case["column"])]]


RANGES = {"bins": ("'[0, 1)'", "'[1, 2)'"), "edges": ("'[-1, 0)'", "'[0, 0.5)'")}
FROM = {
    "ordinal": ("low", "middle"), "integer": ("17", "20"), "years": ("0", "9"), "bins": ("0", "4"),
    "edges": ("-1", "0.5"),
    "month": ("2024-01", "2024-02"), "quarter in Berlin": ("2024-Q1", "2024-Q1"), "hour": ("06", "12"),
}  # fmt: skip


def quoted(label: str) -> str:
    """Return a value as a query has it."""
    return f'"{label}"' if "'" in label else f"'{label}'"


def grouped_of(case: Case) -> dict[str, Any]:
    """Return the groups of statistics."""
    by = {"no": [], "column": [case["named"]], "column and beside": [case["named"], "beside"]}[str(case["grouped"])]
    return {"by": by} if by else {}


def statistics_of(case: Case) -> dict[str, Any]:
    """Return which statistics are asked for."""
    share = "cost in 0..512" if case["grouped"] != "no" else f"{case['named']} = {listed_of(case)[0]}"
    return {
        "plain": {"mean": ["cost"]},
        "variance": {"variance": ["cost"]},
        "quantiles": {"quantiles": {"cost": [0.25, 0.5]}},
        "without intervals": {"median": ["cost"], "intervals": False},
        "share": {"share": [share]},
        "persons": {"persons": True, "totals": {"cost": [0, 3072]}},
        "private bounds": {"mean": ["cost"], "private_bounds": ["cost"]},
        "precision": {"mean": ["cost"], "precision": {"mean cost": 300}},
        "sampling weight": {"mean": ["cost"], "weight": "heavy"},
        "relations": {"relations": ["cost ~ heavy" if weighs(case) else f"cost ~ {case['named']}"]},
        "distinct": {"distinct": ["third" if has_third(case) else case["named"]]},
        "levels": {"sum": ["cost"], "unit": {"cost": 8}},
        "assume": {"mean": ["cost"], "assume": {"cost": {"mean": 400, "sd": 250}}},
    }[str(case["asked"])]


def _nothing(case: Case) -> dict[str, Any]:
    del case
    return {}


def _names(case: Case) -> list[str]:
    return [str(case["named"]), *(["beside"] if case["beside"] != "none" else [])]


def _range(case: Case) -> list[str]:
    low, high = FROM[str(case["column"])]
    return [f"{case['named']} in {low}..{high}"]


ASKED_FOR = {
    "pairs of three": lambda _: {"ways": 2},
    "pairs": lambda case: {"ways": 2} if kind_of(case) == "marginals" else {"order": 2},
    "single tables": lambda _: {"ways": 1},
    "shares": lambda case: {"tables": [[one] for one in _names(case)], "shares": ["1/4", "3/4"]},
    "prefixes": lambda _: {"queries": "prefixes"},
    "length": lambda case: {"length": 1 if len(_names(case)) == 1 else [1] * len(_names(case))},
    "listed": lambda case: {"queries": _range(case)},
    "weights": lambda _: {"weights": [1, 2]},
    "split users": lambda _: {"split": "users"},
    "split budget": lambda _: {"split": "budget"},
    "again": lambda _: {"reports": 3, "changes": 1},
    "records": lambda _: {"records": True},
    "public totals": lambda _: {"invariants": {"top": "rows"}},
}


def unproven(case: Case) -> bool:
    """Return whether the method's claim has no proof."""
    return case["method"] in UNPROVEN
