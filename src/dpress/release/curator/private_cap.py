"""A cap of rows per person, chosen for a small share of the budget: a private quantile of the persons' numbers of rows.

rows -> how many persons have at most c rows, for a public list of caps -> a score for each -> charge -> exponential
mechanism -> a cap, which may be published. A person changes a score by the same, whatever that person's number of rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Claim, Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.data.named_rows import named_rows
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.spec import Spec
from dpress.data.table import Table
from dpress.document.design import Design
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.choice.exponential import Exponential
from dpress.release.curator.paid import Account, paid
from dpress.release.plan.plan import specification_of
from dpress.release.source_rows import chosen_rows, source_of

LARGEST = 100
QUANTILE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateCap:
    """A cap that may be published.

    Args:
        cap: the most rows that a person is to keep.
        quantile: the share of persons that were to have no more rows.
        largest: the candidates were 1 to this many rows.
        claim: the loss; it holds for a person with however many rows.
    """

    cap: int
    quantile: Fraction
    largest: int
    claim: Claim


def private_cap(
    asked: Spec | Design,
    data: Any = None,
    *,
    epsilon: check.Number,
    quantile: check.Number = QUANTILE,
    largest: int = LARGEST,
    ledger: Ledger | str | Path | None = None,
    rng: Generator | None = None,
) -> PrivateCap:
    """Choose how many rows a person keeps, so that about a share `quantile` of the persons loses none.

    Promise: epsilon, for a person with however many rows, under the relation of the specification. Proven.
    Error: see `Exponential`; within 2 D ln(largest / beta) / epsilon of the best score, which counts persons.

    Args:
        asked: a specification or a design whose unit is a person.
        data: a CSV or Parquet file, or a pandas, polars, pyarrow or DuckDB table; left out, the specification's source.
        epsilon: the loss of the choice.
        quantile: the share of persons, strictly between 0 and 1.
        largest: the largest cap to choose; public, not read off the rows.
        ledger: pays, for the person that it protects; it must exist.
        rng: left out, a secure generator.

    Raises:
        ValueError: the unit is no person, or a parameter is out of range.
        BudgetExceeded: the ledger cannot pay; nothing was read or charged.
        OSError, SchemaMismatch: the rows cannot be read; nothing was charged.
    """
    spec = specification_of(asked)
    unit, share = spec.privacy.protected, check.probability("quantile", quantile)
    if unit.column is None:
        raise ValueError('$.privacy.unit: a cap needs a column that names the person, got "row"')
    if spec.linked is not None and spec.linked.protects_households(unit.columns):
        raise ValueError("$.table: how many rows of a household count is what `most` says, and needs no private cap")
    caps = np.arange(1, check.count("largest", largest) + 1)
    mechanism = Exponential(
        loss=PureDP(epsilon=epsilon), unit=replace(unit, rows=1), sensitivity=sensitivity(share, unit.relation)
    )
    book = Ledger.open(ledger) if isinstance(ledger, (str, Path)) else ledger
    paying = unit if book is None else replace(unit, rows=book.summary().unit.rows)  # the loss holds for any rows
    if book is not None:
        book.check(mechanism.loss, paying)

    def prepare() -> Callable[[Generator], int]:
        scored = scores(_at_most(spec, asked, data, caps), share)
        return lambda rng: mechanism.choose(scored, rng=rng)

    line = {"label": "rows_per_unit", "design": "", "spec": spec.hash}
    account = Account(ledger=book, limit=mechanism.loss, price=mechanism.loss, unit=paying, line=line)
    place = paid(prepare, account, lambda chosen, *_: chosen, rng=rng)
    return PrivateCap(cap=int(caps[place]), quantile=share, largest=largest, claim=mechanism.claim)


def scores(at_most: npt.NDArray[np.int64], quantile: Fraction) -> npt.NDArray[np.int64]:
    """Return how well each cap is the quantile, in persons times the quantile's denominator; shape (caps,).

    Cap c is the quantile a / b of n persons if fewer than n a / b of them have at most c - 1 rows, and as many or more
    at most c; its score is the smaller of the two distances, below zero where one does not hold. The last cap is for
    all who have more.

    Args:
        at_most: how many persons have at most 0, 1, ... rows, but last how many there are; shape (caps + 1,).
        quantile: a / b.
    """
    wanted, counts = quantile.numerator * at_most[-1], quantile.denominator * at_most
    return np.asarray(np.minimum(wanted - counts[:-1], counts[1:] - wanted))


def sensitivity(quantile: Fraction, relation: Relation) -> int:
    """Return by how much a person, with however many rows, changes a score of a quantile a / b at most.

    A person who comes is counted in n, and in b at_most or not: a score changes by b - a or a. One who is replaced
    leaves n as it is: by b. The smaller of two numbers changes no more than both.
    """
    more, whole = quantile.numerator, quantile.denominator
    return whole if relation is Relation.REPLACE_ONE else max(more, whole - more)


def _at_most(spec: Spec, design: Spec | Design, data: Any, caps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many persons have at most 0, 1, ... rows, and last how many there are; exact."""
    unit = spec.privacy.protected
    rows = named_rows(chosen_rows(spec, source_of(design, data)).rows, spec.data or FileFormat(), unit.columns)
    persons = Table(rows, (), unit).contributions(caps.tolist())
    kept = np.array([0, *persons.kept.values()], dtype=np.int64)
    return np.append(persons.persons - np.diff(kept), persons.persons)
