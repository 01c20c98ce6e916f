"""Who is asked what for a joint distribution under local privacy: pairs, triples, everything at once."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.workload import Marginals
from dpress.core.reports.oracle import Oracle
from dpress.data.specification.spec import Spec
from dpress.inference.postprocess import NAMES
from dpress.kinds.joint import central
from dpress.mechanisms.joint.bit_joint import LARGEST, BitJoint
from dpress.mechanisms.joint.independent import Independent, product_variance
from dpress.mechanisms.joint.pairs import Pairs, pairs_of
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.longitudinal import calibrated
from dpress.mechanisms.oracle.rappor import Rappor
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Part, ReportType, per_user
from dpress.release.plan import collections, strategies
from dpress.release.plan.candidate import Choice
from dpress.release.plan.collections import MOST_CELLS, asks_itself, check_cells, protocol, share
from dpress.release.plan.parameter_checks import expected_users, of_methods

BITS = ("rr_ldp", "em", "lasso", "lremh")  # on reports of all attributes' bits
OPTIMAL, SHORT = "subset_selection", "hadamard"  # the best oracle, and one whose reports stay short
BASELINE = "independent"
OWN = ("pairs", *BITS, BASELINE)  # the methods that are no oracle over all cells
SMALL = 1 << 12  # cells of a joint table that one oracle is asked about unless it is named
RATES = ("f", "p", "q")
REPORTS, FILTERS = "rr_ldp", ("bits", "hashes")  # what devices send unless it is stated; and of filters
MOST_BITS = 1 << 13  # of a report: every two of them are counted
MOST_SETS = 1000  # report types: planning solves least squares over all of them
MOST_TRIPLES = 150  # report types of three attributes unless they are asked for: fitting more takes minutes


def choose(spec: Spec) -> Choice:
    """Return the collections, or the tables of a curator, that serve a joint, and the best that assumes nothing.

    Raises:
        NotSupported: one attribute, a table, or a budget that is no epsilon.
        ValueError: a parameter is wrong, or counts are to be made likely or to agree: those of the joint are and do.
    """
    strategies.check_columns(spec, adjusted=True)
    for name in spec.release.adjustments:
        if NAMES[name].answers:
            raise ValueError(f"$.release.postprocess: {name!r} is not for the counts of a fitted joint, which agree")
    if spec.privacy.model != "local":
        return central.choose(spec)
    collections.check_silence(spec)
    shape = spec.schema.shape
    workload = Marginals(shape, pairs_of(len(shape)))
    users = expected_users(spec)
    return collections.best(spec, workload, list(joint_collections(spec)), joint_bound(spec), users)


def joint_collections(spec: Spec) -> Iterator[tuple[str, Collection]]:
    """Yield by method every collection that could serve a spec of kind "joint", and always the baseline.

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
    _check_together(spec)
    for name, parameters in of_methods(spec, _methods(method)).items():
        _check_size(name, parameters, math.prod(shape), named=method != "auto")
        if name == "pairs":
            for ways in _ways(parameters, shape):
                sets = list(itertools.combinations(range(len(shape)), ways))
                yield name, _sampled(shape, sets, loss, parameters.get("oracle"))
        elif name in BITS and math.prod(shape) <= LARGEST:
            yield name, _bits(spec, loss, parameters, name)
        elif asks_itself(name):
            yield from protocol(name, "joint", spec, parameters)
        elif name not in OWN and (method != "auto" or math.prod(shape) <= SMALL):
            yield name, _collected(shape, [tuple(range(len(shape)))], [_whole(name, math.prod(shape), loss)])
    yield BASELINE, _alone(shape, loss)


def joint_bound(spec: Spec) -> float:
    """Return the mean variance that no collection goes below: were every user asked about every pair alone."""
    users, loss, shape = expected_users(spec), share(spec, "users"), spec.schema.shape
    if spec.release.method == BASELINE:  # its error is that of a product
        return product_variance(shape, [per_user(_best(size, loss), 1 / size) for size in shape], users, users)
    total = cells = 0.0
    for pair in itertools.combinations(shape, 2):
        size = math.prod(pair)
        total += size * _best(size, loss).variance(users, 1 / size)
        cells += size
    return total / cells


def _methods(method: str) -> dict[str, type[Parameters]]:
    """Return what could serve, with its parameters: the method that is named, or all that are tried."""
    asking = list(catalog.cards("protocol", named=method))
    names = ("pairs", "rr_ldp", OPTIMAL, *asking) if method == "auto" else (method,)
    with_parameters = (*OWN, *asking)
    return {name: catalog.card(name).parameters if name in with_parameters else Parameters for name in names}


def _check_together(spec: Spec) -> None:
    """Refuse parameters of two methods where none is named."""
    given = set(spec.release.parameters)
    if spec.release.method == "auto" and "ways" in given and given & set(RATES):
        raise ValueError(f"{PLACE}: set either `ways` (of `pairs`) or `f`, `p`, `q` (of `rr_ldp`)")


def _check_size(method: str, parameters: Mapping[str, Any], cells: int, *, named: bool) -> None:
    """Refuse tables that are too large for the method that is named, or whose parameters are set."""
    if cells > LARGEST and method in BITS and (named or parameters):
        raise NotSupported(
            f"{method} needs the joint table of {cells:,} cells, more than 2^22; "
            'name fewer attributes, or method = "pairs"'
        )


def _ways(parameters: dict[str, Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    attributes = len(shape)
    if "ways" not in parameters:
        if math.comb(attributes, 2) > MOST_SETS:
            raise NotSupported(f"{attributes} attributes have more than {MOST_SETS:,} pairs; name fewer attributes")
        small = math.prod(sorted(shape)[-3:]) <= MOST_CELLS
        return (2, 3) if small and 1 <= math.comb(attributes, 3) <= MOST_TRIPLES else (2,)
    ways: int = parameters["ways"]
    if ways > attributes:
        raise ValueError(f"{PLACE}.ways: expected at most {attributes}, got {ways}")
    if math.comb(attributes, ways) > MOST_SETS:
        sets = f"{math.comb(attributes, ways):,} sets of {ways} attributes"
        raise NotSupported(f"{PLACE}.ways: {sets}, more than {MOST_SETS:,}; name fewer attributes")
    return (ways,)


def _sampled(shape: tuple[int, ...], sets: list[tuple[int, ...]], loss: PureDP, oracle: str | None) -> Collection:
    sizes = [math.prod(shape[axis] for axis in axes) for axes in sets]
    return _collected(shape, sets, [_best(size, loss, oracle) for size in sizes])


def _alone(shape: tuple[int, ...], loss: PureDP) -> Collection:
    parts = [Part(axes=(axis,), oracle=_best(size, loss)) for axis, size in enumerate(shape)]
    types = tuple(ReportType(parts=(part,)) for part in parts)
    return Collection(shape=shape, types=types, split="users", estimator=Independent(shape=shape, types=types))


def _best(size: int, loss: PureDP, named: str | None = None) -> Oracle:
    """Return the named oracle; else the best one, or the one with short reports where that one's would be too long."""
    for name in (named,) if named is not None else (OPTIMAL, SHORT):
        oracle = _serving(name, size, loss)
        if oracle is not None:
            return oracle
    raise NotSupported(f"{size:,} combinations of values are too many to ask about; group the values")


def _serving(name: str, size: int, loss: PureDP) -> Oracle | None:
    """Return the oracle of this name over so many values, or None where it does not serve them."""
    make = catalog.card(name).oracle
    return make(size, loss) if make is not None and size <= MOST_CELLS else None


def _whole(name: str, cells: int, loss: PureDP) -> Oracle:
    """Return the named oracle over all cells."""
    card = catalog.card(name)
    if card.family != "oracle" or card.oracle is None:
        methods = ", ".join(OWN)
        raise NotSupported(f'$.release.method: {name!r} does not serve kind = "joint"; use {methods} or an oracle')
    oracle = card.oracle(cells, loss) if cells <= MOST_CELLS else None
    if oracle is None:
        raise NotSupported(
            f"{name} over all {cells:,} combinations of values is too large; "
            'name fewer attributes, group their values, or method = "pairs"'
        )
    return oracle


def _collected(shape: tuple[int, ...], sets: list[tuple[int, ...]], oracles: list[Oracle]) -> Collection:
    estimator = Pairs(shape=shape, sets=tuple(sets), oracles=tuple(oracles))
    return Collection(shape=shape, types=estimator.types, split="users", estimator=estimator)


def _bits(spec: Spec, loss: PureDP, parameters: dict[str, Any], name: str) -> Collection:
    shape, strategy = spec.schema.shape, _strategy(name, parameters)
    rates = {name: parameters[name] for name in RATES if name in parameters}
    if parameters.get("reports", REPORTS) == REPORTS and (needless := set(parameters) & set(FILTERS)):
        raise ValueError(f'{PLACE}.{min(needless)}: only with reports = "rappor"')
    if parameters.get("reports") == "rappor":
        estimator = BitJoint(oracles=_filters(spec, loss, rates, parameters), strategy=strategy)
    else:
        chances = calibrated(loss, len(shape), **rates)
        oracle = RrLdp(sizes=shape, f=chances.f, p=chances.p, q=chances.q)
        estimator = BitJoint(oracles=(oracle,), strategy=strategy)
    return Collection(shape=shape, types=estimator.types, split="budget", estimator=estimator)


def _strategy(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return the document's estimator; None for the likelihood, stopped early."""
    if name == "rr_ldp":
        return None
    method: Any = catalog.card(name).method
    return method.penalised(parameters["penalty"]) if "penalty" in parameters else method()


def _filters(spec: Spec, loss: PureDP, rates: dict[str, Any], parameters: dict[str, Any]) -> tuple[Rappor, ...]:
    """Return a Bloom filter of one cohort for every attribute: the candidates are known, and few."""
    bits, hashes = parameters.get("bits", 128), parameters.get("hashes", 2)
    attributes = spec.schema.tabular
    if bits * len(attributes) >= MOST_BITS:
        long = f"a report of {bits * len(attributes):,} bits is too long to count"
        raise NotSupported(f"{PLACE}.bits: {long}")
    chances = calibrated(loss, hashes * len(attributes), **rates)
    oracles = []
    for attribute in attributes:
        names = tuple(attribute.labels_between(0, attribute.size))
        oracle = Rappor(candidates=names, f=chances.f, p=chances.p, q=chances.q, bits=bits, hashes=hashes, cohorts=1)
        if not oracle.identified:
            raise NotSupported(
                f"{PLACE}.bits: filters of {bits} bits do not tell the {attribute.size:,} values of "
                f"{attribute.name!r} apart; more bits are needed"
            )
        oracles.append(oracle)
    return tuple(oracles)
