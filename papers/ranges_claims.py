"""What the document on ranges claims, and what dpress adds, as tests: a band, and planted violations on both sides.

Measured over predicted lies in 1 +- `ALLOWED`; errors of 3 % in either sign are told from it. The runs are chosen for
a standard error of 0.0025, and `claims.ERRORS` of them widen the band: a right prediction fails where a mean of fifty
batches is off by eight standard errors, with a chance below 1e-9 by Student's distribution.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from claims import Claim, at_least, at_most, within
from quantities import Quantity, Row, level, mean, ratio, settings
from ranges_identities import identities, limit_coefficient, mean_coefficient
from ranges_methods import CONSISTENT, DOCUMENT, SEARCH

ALLOWED = 0.01  # of the prediction
ENOUGH = "at as many runs as find an error of 3 %"
PLANTED = (0.97, 1.03)  # that must be caught, whichever sign the error of the prediction has
UNKNOWN = "for the strategies that the document does not know"
OURS = ("hierarchy", "prefix", "dst")
NOISE = "the noise is discrete; its own exact variance stands for 2 D^2 / epsilon^2"
SPREAD = 1.2  # ranges whose predictions differ by less than this factor have no slope


def claims() -> list[Claim]:
    """Return every claim."""
    return [*_experiment_1(), *_experiment_2(), *_covariances(), *_unknown(), *_strategies(), *identities()]


def _experiment_1() -> list[Claim]:
    words = "the measured mean squared error of random ranges is the predicted one"
    slope = "a range whose predicted error is larger has a measured error that is larger by as much"
    place = "experiment 1, Table 1 and Figure 4"
    return [
        _stated("ranges_stated", f"{words}, as stated: 50 ranges, 100 runs", place, "experiment_1_stated", (0.5, 1.6)),
        _right("ranges_measured", f"{words}, {ENOUGH}", place, agreement("experiment_1", DOCUMENT)),
        _slope("ranges_slope", slope, "experiment 1, Figure 4", DOCUMENT),
        _ours(_right("ranges_measured_ours", f"{words} {UNKNOWN}", "experiment 1", agreement("experiment_1", OURS))),
        _ours(_slope("ranges_slope_ours", f"{slope}, {UNKNOWN}", "experiment 1", ("hierarchy", "dst"))),
    ]


def _experiment_2() -> list[Claim]:
    words = "the measured mean squared error over all ranges is the predicted one"
    place = "experiment 2, Table 2 and Figure 5"
    beats = [
        Claim(
            key=f"tree_{name}",
            whose="document",
            words=f"{name} has a smaller error than the tree of counts used as it is",
            place="accuracy index: 6 against 1",
            quantity=ratio(name, "binary_tree", "measured", by=("cells",), name="strategy", table="experiment_2"),
            band=at_most(1),
            violation=1.05,
            axis="cells",
            note="with one cell all are the same count",
        )
        for name in CONSISTENT
    ]
    every_n = agreement("experiment_2", ("privelet",))
    mean_of = "the mean over the n"
    stated = f"{words}, as stated: n = 2^m, 100 runs; {mean_of}"
    return [
        _stated("average_stated", stated, place, "experiment_2_stated", (0.2, 2.0)),
        _right("average_measured", f"{words}, {ENOUGH}; {mean_of}", place, agreement("experiment_2", DOCUMENT)),
        replace(_right("average_cells", f"{words} at every n, for Privelet", place, every_n), axis="cells"),
        Claim(
            key="average_limit_cells",
            whose="document",
            words="the mean squared error over all ranges that experiment 2 predicts for Privelet by formula (17), the "
            "coefficient h/6 + 1/36, is the measured one",
            place="experiment 2; formula (17)",
            quantity=over_limit("experiment_2"),
            band=within(1, 0.01),
            violation=PLANTED,
            axis="cells",
            note="the formula is the limit of large n, and the document says so only for h > 10",
        ),
        *beats,
        _ours(_right("average_measured_ours", f"{words} {UNKNOWN}", "experiment 2", agreement("experiment_2", OURS))),
    ]


def _covariances() -> list[Claim]:
    alone = "adding up the variances of the cells alone, without their covariances, is wrong for ranges"
    control = "the same sum is right where cells are independent, so that it is the covariances that are missing"
    of_identity = agreement("experiment_1", ("identity",), to="diagonal")
    return [
        Claim(
            key="diagonal",
            whose="document",
            words=alone,
            place="Section on the covariances; the document's point",
            quantity=agreement("experiment_1", CONSISTENT, to="diagonal"),
            band=at_most(0.67),
            violation=0.9,
            axis="strategy",
        ),
        replace(_ours(_right("diagonal_control", control, "experiment 1, a control", of_identity)), axis=""),
    ]


def _stated(key: str, words: str, place: str, table: str, violation: tuple[float, float]) -> Claim:
    """Return a claim of the document that a prediction is right to 10 %, in its own number of runs."""
    own = _right(key, words, place, agreement(table, DOCUMENT))
    return replace(own, band=within(1, 0.1), violation=violation)


def _right(key: str, words: str, place: str, quantity: Quantity) -> Claim:
    """Return a claim of the document that a prediction is right to 1 %, for every strategy."""
    return Claim(
        key=key,
        whose="document",
        words=words,
        place=place,
        quantity=quantity,
        band=within(1, ALLOWED),
        violation=PLANTED,
        axis="strategy",
        note=NOISE,
    )


def _slope(key: str, words: str, place: str, strategies: Sequence[str]) -> Claim:
    """Return a claim of the document that the error of ranges goes as it is predicted, to 2 %."""
    own = _right(key, words, place, slope_of("experiment_1", strategies))
    return replace(own, band=within(1, 0.02), violation=(0.9, 1.1))


def _ours(claim: Claim) -> Claim:
    """Return a claim as one of dpress, which does not speak of real-valued noise."""
    return replace(claim, whose="dpress", note="")


def _unknown() -> list[Claim]:
    printed = "the figures that the document prints are those of a run of ours"
    return [
        Claim(
            key="printed",
            whose="document",
            words=printed,
            place="Tables 1 and 2",
            quantity=level("difference", "measured", table="table_1"),
            band=at_most(0),
            violation=1,
            blocked="the document's 50 ranges were drawn at random and its figures are not at hand",
        ),
        Claim(
            key="closed_form",
            whose="document",
            words="the mean error of Privelet over all ranges has the closed form that the document prints",
            place="average error",
            quantity=level("difference", "measured", table="table_1"),
            band=at_most(0),
            violation=1,
            blocked="the formula is an image that is lost; one derived anew stands among the identities",
        ),
    ]


def _strategies() -> list[Claim]:
    epsilon, rho = {"loss": "epsilon = 1"}, {"loss": "rho = 0.5"}
    rivals = [
        Claim(
            key=f"{ours}_{axis}",
            whose="dpress",
            words=f"{ours} has no larger mean error under {loss['loss']} than the best of the document's strategies",
            place=f"ranges of all lengths, by {axis}" if axis == "cells" else f"ranges of one length, by {axis}",
            quantity=over_best(ours, table, **loss),
            band=at_most(1),
            violation=1.05,
            axis=axis,
            note="both with real-valued noise, exact",
        )
        for ours, loss in (("hierarchy", epsilon), ("dst", rho))
        for axis, table in (("cells", "sizes"), ("length", "lengths"))
    ]
    indices = [
        Claim(
            key=f"index_{name}_cells",
            whose="dpress",
            words=f"the limit of the accuracy index of {name} describes it at n cells within 10 %",
            place="accuracy index, at finite n",
            quantity=level("index over its limit", "of_limit", table="indices", strategy=name),
            band=within(1, 0.1),
            violation=(0.8, 1.2),
            axis="cells",
        )
        for name in CONSISTENT
    ]
    return [
        *rivals,
        *indices,
        Claim(
            key="dst_bound",
            whose="dpress",
            words="dst is within 2.5 % of what no strategy goes below",
            place="rho = 0.5, all ranges",
            quantity=level("mean error over the lower bound", "over_bound", table="sizes", strategy="dst", **rho),
            band=at_most(1.025),
            violation=1.05,
            axis="cells",
        ),
        Claim(
            key="hierarchy_bound",
            whose="dpress",
            words="hierarchy is within twice what no strategy goes below",
            place="epsilon = 1, all ranges",
            quantity=level("mean error over the bound", "over_bound", table="sizes", strategy="hierarchy", **epsilon),
            band=at_most(2),
            violation=2.2,
            axis="cells",
        ),
        Claim(
            key="hierarchy_search",
            whose="dpress",
            words="a numerical search of seconds finds no strategy that is 10 % better than hierarchy",
            place="epsilon = 1, all ranges",
            quantity=ratio(
                "hierarchy", SEARCH, "mean_variance", by=("cells",), name="strategy", table="sizes", **epsilon
            ),
            band=at_most(1.1),
            violation=1.2,
            axis="cells",
            note="the search stops by the clock",
        ),
        Claim(
            key="bound",
            whose="dpress",
            words="no strategy is better than the lower bound of Li and Miklau",
            place="all strategies, sizes and losses",
            quantity=least("over_bound", "sizes"),
            band=at_least(1),
            violation=0.99,
            axis="loss",
        ),
    ]


def agreement(table: str, strategies: Sequence[str], *, to: str = "predicted") -> Quantity:
    """Return the mean over rows of what was measured over what was to be expected: 1 where that is right."""
    what = "predicted" if to == "predicted" else "the variances alone"
    return Quantity(
        words=f"mean of measured over {what}",
        table=table,
        where={"strategy": tuple(strategies)},
        of=lambda rows: float(np.mean([row["measured"] / row[to] for row in rows])),
        example=lambda value: [{"measured": value, to: 1.0}],
    )


def over_limit(table: str) -> Quantity:
    """Return the mean of what was measured over what the coefficient's limit predicts: 1 where that is right."""
    return Quantity(
        words="mean of measured over the prediction by the limit",
        table=table,
        where={"strategy": ("privelet",)},
        of=lambda rows: float(np.mean([row["measured"] / row["predicted"] * exact_over_limit(row) for row in rows])),
        example=lambda value: [{"measured": value / exact_over_limit({"cells": 64}), "predicted": 1.0, "cells": 64}],
    )


def exact_over_limit(row: Row) -> float:
    """Return how many times the limit of its mean coefficient Privelet's own is, at the number of cells of a row."""
    cells = int(row["cells"])
    return float(mean_coefficient(cells) / limit_coefficient(cells))


def slope_of(table: str, strategies: Sequence[str]) -> Quantity:
    """Return the slope of the logarithm of the measured error of a range on that of the predicted one."""

    def slope(rows: Sequence[Row]) -> float:
        own = settings(rows, ("range",)).values()
        x = np.log([each[0]["predicted"] for each in own])
        y = np.log([mean(each, "measured") for each in own])
        if np.ptp(x) < math.log(SPREAD):
            raise ValueError("all ranges have the same error")
        return float(np.polyfit(x, y, 1)[0])

    return Quantity(
        words="slope of log measured on log predicted over ranges",
        table=table,
        where={"strategy": tuple(strategies)},
        of=slope,
        example=lambda value: [{"range": at, "predicted": 10.0**at, "measured": 10.0 ** (value * at)} for at in (0, 1)],
    )


def over_best(ours: str, table: str, **where: str) -> Quantity:
    """Return how many times the mean error of the best of the document's strategies one of ours has."""

    def times(rows: Sequence[Row]) -> float:
        each = {name: mean(own, "mean_variance") for (name,), own in settings(rows, ("strategy",)).items()}
        return each[ours] / min(each[name] for name in DOCUMENT)

    return Quantity(
        words=f"mean error of {ours} over the least of {', '.join(DOCUMENT)}",
        table=table,
        where={"strategy": (ours, *DOCUMENT), **where},
        of=times,
        example=lambda value: [
            {"strategy": name, "mean_variance": value if name == ours else 1.0} for name in (ours, *DOCUMENT)
        ],
    )


def least(column: str, table: str) -> Quantity:
    """Return the smallest value of a column."""
    return Quantity(
        words=f"the least {column}",
        table=table,
        where={},
        of=lambda rows: min(row[column] for row in rows),
        example=lambda value: [{column: value}, {column: 2.0}],
    )
