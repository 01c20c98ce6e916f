"""Who is asked what for a joint distribution under local privacy: pairs, triples, everything at once."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from dpress import catalog
from dpress.core import check
from dpress.core.claim import PureDP
from dpress.core.errors import NotSupported
from dpress.core.oracle import Oracle
from dpress.data.spec import Spec
from dpress.mechanisms.bit_joint import LARGEST, BitJoint
from dpress.mechanisms.collection import Collection
from dpress.mechanisms.joint.pairs import Pairs
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.longitudinal import calibrated
from dpress.mechanisms.question import Question
from dpress.mechanisms.together import CoOccurrence, OverProduct
from dpress.release.local_plan import MOST_CELLS, asked_id, check_cells, expected_users, share

BITS = ("rr_ldp", "em", "lasso", "lremh")  # on reports of all attributes' bits
PUBLISHED = ("em", "lasso", "lremh")  # the document's, run where they are named
OPTIMAL, SHORT = "subset_selection", "hadamard"  # the best oracle, and one whose reports stay short
SMALL = 1 << 12  # cells of a joint table that one oracle is asked about unless it is named
RATES = ("f", "p", "q")
MOST_SETS = 1000  # questions: planning solves least squares over all of them
MOST_TRIPLES = 150  # questions of three attributes unless they are asked for: fitting more takes minutes


def joint_collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could serve a spec of kind "joint".

    Raises:
        NotSupported: one attribute, or a budget that is no epsilon.
        ValueError: a parameter is wrong.
    """
    if len(spec.schema.attributes) < 2:
        raise NotSupported(
            '$.release.attributes: a joint distribution needs two attributes or more; use kind = "histogram"'
        )
    check_cells(spec)
    method, loss, shape = spec.release.method, share(spec, "users"), spec.schema.shape
    own = {name: value for name, value in spec.release.parameters.items() if name not in ("users", "round")}
    _check(own, method, math.prod(shape))
    if method in ("auto", "pairs") and set(own) <= {"ways"}:
        for ways in _ways(own, len(shape)):
            yield "pairs", _asked(shape, list(itertools.combinations(range(len(shape)), ways)), loss)
    if set(own) <= set(RATES) and math.prod(shape) <= LARGEST:
        for name in BITS:
            if method == name or (method == "auto" and name not in PUBLISHED):
                yield name, _bits(spec, loss, own, name)
    if not own and (method != "auto" or math.prod(shape) <= SMALL):
        card = catalog.cards().get(OPTIMAL if method == "auto" else method)
        if card is not None and card.family == "oracle" and card.oracle is not None:
            oracle = card.oracle(math.prod(shape), loss)
            if oracle is not None:
                yield card.name, _collected(shape, [tuple(range(len(shape)))], [oracle])


def joint_bound(spec: Spec) -> float:
    """Return the mean variance that no collection goes below: were every user asked about every pair alone."""
    users, loss, shape = expected_users(spec), share(spec, "users"), spec.schema.shape
    total = cells = 0.0
    for pair in itertools.combinations(shape, 2):
        size = math.prod(pair)
        total += size * _best(size, loss).variance(users, 1 / size)
        cells += size
    return total / cells


def _check(own: dict[str, Any], method: str, cells: int) -> None:
    """Refuse parameters that the method, or all methods together, do not take, and tables that are too large for it."""
    allowed = {"pairs": {"ways"}, "auto": {"ways", *RATES}, **{name: {*RATES} for name in BITS}}.get(method, set())
    if unknown := set(own) - allowed:
        whom = 'kind = "joint"' if method == "auto" else method
        raise ValueError(f"$.release.parameters: unknown parameter {min(unknown)!r} for {whom}")
    if "ways" in own and len(own) > 1:
        raise ValueError("$.release.parameters: set either `ways` (of `pairs`) or `f`, `p`, `q` (of `rr_ldp`)")
    if method in BITS and cells > LARGEST:
        raise NotSupported(
            f"{method} needs the joint table of {cells:,} cells, more than 2^22; "
            'name fewer attributes, or method = "pairs"'
        )


def _ways(own: dict[str, Any], attributes: int) -> tuple[int, ...]:
    if "ways" not in own:
        if math.comb(attributes, 2) > MOST_SETS:
            raise NotSupported(f"{attributes} attributes have more than {MOST_SETS:,} pairs; name fewer attributes")
        return (2, 3) if 1 <= math.comb(attributes, 3) <= MOST_TRIPLES else (2,)
    ways = check.count("$.release.parameters.ways", own["ways"], least=2)
    if ways > attributes:
        raise ValueError(f"$.release.parameters.ways: expected at most {attributes}, got {ways}")
    if math.comb(attributes, ways) > MOST_SETS:
        asked = f"{math.comb(attributes, ways):,} sets of {ways} attributes"
        raise NotSupported(f"$.release.parameters.ways: {asked}, more than {MOST_SETS:,}; name fewer attributes")
    return (ways,)


def _asked(shape: tuple[int, ...], sets: list[tuple[int, ...]], loss: PureDP) -> Collection:
    return _collected(shape, sets, [_best(math.prod(shape[axis] for axis in axes), loss) for axes in sets])


def _best(size: int, loss: PureDP) -> Oracle:
    """Return the best oracle, or the one with short reports where the best one's would be too long."""
    for name in (OPTIMAL, SHORT):
        make = catalog.card(name).oracle
        oracle = make(size, loss) if make is not None and size <= MOST_CELLS else None
        if oracle is not None:
            return oracle
    raise NotSupported(f"{size:,} combinations of values are too many to ask about; group the values")


def _collected(shape: tuple[int, ...], sets: list[tuple[int, ...]], oracles: list[Oracle]) -> Collection:
    questions = tuple(
        Question(axes=axes, oracles=(OverProduct(sizes=tuple(shape[axis] for axis in axes), oracle=oracle),))
        for axes, oracle in zip(sets, oracles, strict=True)
    )
    estimator = Pairs(shape=shape, sets=tuple(sets), oracles=tuple(oracles))
    return Collection(shape=shape, questions=questions, split="users", estimator=estimator)


def _bits(spec: Spec, loss: PureDP, own: dict[str, Any], name: str) -> Collection:
    shape = spec.schema.shape
    rates = calibrated(loss, len(shape), **own)
    oracle = RrLdp(sizes=shape, f=rates.f, p=rates.p, q=rates.q, spec=asked_id(spec))
    strategy = None if name == "rr_ldp" else catalog.card(name).method()
    question = Question(axes=tuple(range(len(shape))), oracles=(CoOccurrence(oracle=oracle),))
    estimator = BitJoint(oracle=oracle, strategy=strategy)
    return Collection(shape=shape, questions=(question,), split="budget", estimator=estimator)
