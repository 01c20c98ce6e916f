# Greek letters are the field's own
"""The words of a page on records: what they are good for, what they are not, and what can be known of their error.

Data flow: release -> sentences.
"""

import math

import numpy as np

from dpress.core.attribute import Bounded, Integer
from dpress.inference.interval import half_width
from dpress.kinds.microdata.answers import MicrodataRelease
from dpress.release.published_tables import CONFIDENCE
from dpress.report.rounding import error as rounded
from dpress.report.rounding import loss, number
from dpress.report.words import said

PERTURBED = ("per_record",)  # whose records are rows with noise
TWO = (
    "The stronger the shade, the more records (by square root); a hollow dot marks a pair of values that no record "
    "has. How far a pair of these is from that of the rows is not known here."
)

LINKAGE = (
    "Record linkage (RL), the share of records whose own row is among the nearest, and distances to the nearest row "
    "need the rows: dpress evaluate FOLDER --data FILE computes them for whoever holds the data. Its output is not "
    "private and must not be put on this page."
)


def verdict(release: MicrodataRelease) -> str:
    """Return the release in one line."""
    if not release.private:
        return "Test records from repeatable noise. They protect nobody."
    own, count = said(release), number(release.table.num_rows)
    if release.claim.proven is None:
        return (
            f"{count} records, one for every row and in the order of the rows. Claimed, but not proven: "
            f"{loss(release.claim.published)} for {own.whom}."
        )
    promise = f"Proven {own.privacy} with {loss(release.claim.proven)} for {own.whom}"
    if release.planned.chosen.method in PERTURBED:
        return f"{count} records, rows perturbed one by one and shuffled. {promise}."
    return f"{count} made-up records. {promise}; none of them is anybody's."


def own_variance(release: MicrodataRelease, axis: int) -> float | None:
    """Return the variance of a count in an attribute's own noisy histogram; None where none was measured."""
    shape = release.schema.shape
    rows = tuple(rows for rows, _ in release.parts[: len(shape)])
    return release.parts[axis][1] if rows == shape else None


def one_way(release: MicrodataRelease, axis: int, bars: int) -> str:
    """Return the caption of a figure of one attribute."""
    attribute = release.schema.tabular[axis]
    words = ["Bars count records."]
    if isinstance(attribute, Bounded) and bars < attribute.size:
        words.append(f"{number(attribute.size)} cells in {bars} bins; the axis names a bin by its lower end.")
    elif isinstance(attribute, Bounded):
        words.append("The axis names a cell by its lower end.")
    variance = own_variance(release, axis)
    if variance is None:
        words.append("No noisy histogram stands behind them: their error is not known here.")
    else:
        half = rounded(half_width(variance, CONFIDENCE, release.tail))
        words.append(
            f"The thin lines are the 95 % noise of the attribute's own noisy histogram, ± {half} a cell, which the "
            "records were made to follow; combining it with other answers changes a count by less or more than that."
        )
    return " ".join(words)


def error(release: MicrodataRelease) -> str:
    """Return what was known of the error beforehand."""
    predicted = release.planned.chosen.predicted_error
    if not math.isfinite(predicted):
        return "Nothing could be predicted of the records' error before the rows were read: this method has no formula."
    return (
        f"Predicted before any row was read: noise adds a squared error of {rounded(predicted)} in all to the numbers "
        "of all records, if each is given by its cluster, every number on the scale of its bounds, 0 to 1. What "
        "clusters leave out comes on top; nobody can predict it without the rows."
    )


def made(release: MicrodataRelease) -> str:
    """Return the parameters that the method ran with."""
    named = [f"{name} = {value}" for name, value in release.maker.parameters.items()]
    weights = release.spec.release.parameters.get("weights")
    return ", ".join([*named, *([f"weights = {weights}"] if weights else [])]) or "no parameters"


def risk(release: MicrodataRelease) -> tuple[str, ...]:
    """Return what can be said of disclosure from the release alone, and where the rest is computed."""
    promise = (
        f"The promise: {loss(release.claim.proven)}, proven. It bounds what anybody can learn about one of those it "
        "protects, whatever else is known and however the records are linked; the figures below bound nothing."
        if release.claim.proven is not None
        else "No proven promise. Low figures below do not make up for that: the noise is drawn anew for every record "
        "around the same centre, and averaging takes it away."
    )
    aligned = (
        "Record i of this file is about row i of the table. Whoever knows the order of the rows knows whose it is."
        if release.aligned
        else "Each record is one row with noise on every value; they are in random order."
        if release.planned.chosen.method in PERTURBED
        else "Records are in random order and stand for nobody: a record that equals somebody's does so by chance or "
        "because many are alike, and it being there or not changes little if that person is taken out."
    )
    return (
        promise,
        aligned,
        _distinct(release),
        LINKAGE,
    )


def _distinct(release: MicrodataRelease) -> str:
    if not release.table.num_rows:
        return "There are no records."
    _, counts = np.unique(release.codes, axis=1, return_counts=True)
    once = int((counts == 1).sum())
    alike = number(release.table.num_rows)
    found = f"Among the {alike} records {number(counts.size)} are distinct and {number(once)} occur once."
    if release.aligned:
        return found
    return f"{found} A record that occurs once looks like somebody: say clearly that these data are made up."


def good(release: MicrodataRelease) -> tuple[str, ...]:
    """Return what the records can be used for."""
    if release.claim.proven is None:
        return ("comparing the published method with others, by people who may see the rows anyway",)
    pairs = {
        "graphical": "counts by two attributes, which the model was fitted to, and what follows from them",
        "dp_prototypes": "counts by one attribute, and by two as far as clusters tell them apart",
    }
    own = pairs.get(release.planned.chosen.method, "seeing how little is left at this loss")
    if release.maker.parameters.get("rows") == "representative":
        own = "a summary by typical records, each as often as its cluster is large"
    return (
        own,
        "trying out programs, tables and questions before asking for access to the rows",
    )


def bad(release: MicrodataRelease) -> tuple[str, ...]:
    """Return what the records must not be used for."""
    spread = (
        ("spreads and extremes: records of one cluster are all alike",)
        if release.maker.parameters.get("rows") == "representative"
        else ()
    )
    return (
        *spread,
        "facts about a person: no record is anybody's"
        if release.claim.proven is not None
        else "publication: nothing is proven of what they hide",
        "rare combinations, and relations among three or more attributes that nothing measured",
        "standard errors and tests: they do not know of the noise, and are too small",
    )


def example(release: MicrodataRelease) -> str:
    """Return a query on the first attribute."""
    attribute = release.schema.tabular[0]
    if isinstance(attribute, Bounded):
        places = np.array([attribute.ordered // 4, (attribute.ordered + 1) // 2])
        low, high = attribute.edges_at(places).tolist()
        query = f"{attribute.name} in {low:.10g}..{high - isinstance(attribute, Integer):.10g}"
    else:
        query = f'{attribute.name} = "{attribute.labels[0]}"'
    try:
        release.query(query)
    except ValueError:  # a name or a label that the query language cannot spell
        return "total"
    return query
