"""The built browser client's reports, read by Python: accepted, of the right size, and right on average.

The devices' coins are seeded. A deviation of the estimates from the truth that is by chance as large occurs in fewer
than FALSE_ALARM of all runs; estimates with a swapped probability must be told apart by the same test.
"""

import copy
import functools
import hashlib
import itertools
import json
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.client.devices import STORED, document, run
from tests.reading import table_of

from dpress import device, estimate, intake, load_design
from dpress.attributes.coding import codes as codes_of
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.sets.attribute import SetMembers
from dpress.attributes.text.attribute import StringCandidates
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports.wire import unpack
from dpress.ledger.device_ledger import DeviceLedger
from dpress.query.designs import collection_of
from dpress.release.devices.device import Account

FALSE_ALARM = 1e-6
SEVERAL, MANY = 3_000, 10_000
FEW = 40
ASKS = {place.parent.name: json.loads(place.read_text())["ask"] for place in STORED.glob("*/design.json")}
LOCAL = sorted(name for name, own in ASKS.items() if own["model"] == "local")
COMPARED = {
    "local_krr": MANY, "local_sue": SEVERAL, "local_oue": MANY, "local_subset_selection": SEVERAL,
    "local_hadamard": SEVERAL, "local_olh": SEVERAL, "local_pcep": SEVERAL, "local_rappor": SEVERAL,
    "local_rr_ldp": SEVERAL, "joint_rr_ldp": MANY, "joint_pairs": SEVERAL, "joint_em_rappor": SEVERAL,
    "local_budget": SEVERAL, "local_ranges_three": SEVERAL, "map_gtr": MANY, "map_psda": MANY, "map_dam": MANY,
    "map_ahead_0": SEVERAL, "map_ahead_1": SEVERAL, "strings_0": SEVERAL,
}  # fmt: skip


def people(design, number):
    """Return made-up values and codes of so many people, all values in use, half of the people with the last one."""
    own = [(one, attribute_values(one)) for one in design.schema.attributes]
    places = np.arange(number)
    rows = np.array([np.minimum(places // (i + 1) % (2 * len(v)), len(v) - 1) for i, (_, v) in enumerate(own)])
    values = [{one.name: v[row] for (one, v), row in zip(own, rows_of, strict=True)} for rows_of in rows.T.tolist()]
    cells = [
        np.array([codes_of(Schema((one,)), {one.name: value}) for value in v])[own_rows].T
        for (one, v), own_rows in zip(own, rows, strict=True)
    ]
    return values, np.concatenate(cells).astype(np.int32)


def attribute_values(attribute):
    """Return a value of every cell, those beside the listed ones last."""
    if isinstance(attribute, SetMembers):
        listed = list(attribute.values)
        return [[], listed[:1], attribute.separator.join(listed[1:]), listed[1], None, [*listed, None, "none of these"]]
    if isinstance(attribute, StringCandidates):
        return ["4", "8", "no", *attribute.strings, "2"]
    if isinstance(attribute, Categorical):
        beside = ["no such value", None] if attribute.null is not None else ["no such value"]
        return [*attribute.values, *beside[: len(attribute.extra)]]
    edges = attribute.edges.tolist()
    if attribute.calendar is not None:
        days = np.array(edges[:-1], dtype="datetime64[h]").astype("datetime64[D]")
        return [*map(str, days), *(None for _ in attribute.extra)]
    middle = [low if isinstance(low, int) else (low + high) / 2 for low, high in itertools.pairwise(edges)]
    return [*middle, *(None for _ in attribute.extra)]


def sent(name, number, folder):
    """Return the design, everybody's codes, their reports and charges; None and none of who has another round."""
    place = STORED / name / "design.json"
    design, ask = load_design(place), json.loads(place.read_text())["ask"]
    values, codes = people(design, number)
    found = run(folder, identity=design.id, said=document(ask, design.round), devices=values)
    assert {one.refused for one in found if one.packed is None} <= {
        f"this device reports in round {1 - design.round}, counted from 0"
    }
    return design, codes, [one.packed for one in found], [one.charges for one in found]


def unlikely(oracle, values, payloads):
    """Say whether some count is further from the truth than any is by chance once in 1 / FALSE_ALARM runs.

    The chance that one of k normal numbers, however correlated, deviates so far is at most k times that of one alone.
    """
    measured = oracle.estimate(oracle.tally(payloads), len(payloads))
    flat = np.ravel_multi_index(list(values), oracle.sizes) if values.ndim == 2 else values
    truth = measured.map.apply(np.bincount(flat, minlength=oracle.size).astype(np.float64))
    deviations = abs(measured.answers - truth) / np.sqrt(np.maximum(measured.variance, 1))  # one person at least
    return deviations.max() > NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * truth.size))


def swapped(oracle, payloads):
    """Return an oracle whose collector has p and q swapped, or half of its only probability, and the payloads.

    Where no such oracle can be made the payloads are those of devices that toss for the other of two answers.
    """
    fields = oracle.__dataclass_fields__
    if "f" in fields or "seed" in fields:
        return oracle, inverted(oracle, payloads)
    name = "truth" if "truth" in fields else "p"
    found, p = copy.copy(oracle), getattr(oracle, name)
    for one, value in {name: oracle.q, "q": p}.items() if "q" in fields else {name: p / 2}.items():
        object.__setattr__(found, one, value)
    return found, payloads


def inverted(oracle, payloads):
    """Return payloads with the other sign, or with every bit inverted but those of the cohort."""
    found = payloads.copy()
    if not hasattr(oracle, "responses"):
        found[:, 0] ^= 1
        return found
    start, size = (2, oracle.bits) if hasattr(oracle, "cohorts") else (0, oracle.bits)
    ones = np.unpackbits(found[:, start:], axis=1, count=size, bitorder="little")
    found[:, start:] = np.packbits(1 - ones, axis=1, bitorder="little")
    return found


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """What few people send for a design, sent once for all tests."""
    return functools.cache(lambda name: sent(name, FEW, tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize("name", LOCAL)
def test_reports_of_every_stored_design_are_accepted(name, few):
    design, _, packed, _ = few(name)
    door, arrived = intake(design), [one for one in packed if one is not None]
    types = {door.accept(one).report_type for one in arrived}
    assert len({unpack(one).id for one in arrived}) == len(arrived) >= FEW / 4
    assert types <= set(range(len(collection_of(design, allow_unproven=True).types)))


@pytest.mark.parametrize("name", LOCAL)
def test_an_account_is_charged_what_python_charges(name, few, tmp_path):
    """To the last digit: the account of a device in Python, with the secret of nobody in particular."""
    design, codes, packed, charges = few(name)
    types = collection_of(design, allow_unproven=True).types
    expected = {number: charged(own) for number, own in enumerate(types)}
    reports = [None if one is None else unpack(one) for one in packed]
    assert charges == [[] if one is None else expected[one.report_type] for one in reports]
    if len(types) == 1 and design.ask.rounds is None:
        account = Account(ledger=DeviceLedger(path=tmp_path / "charges"), limit=PureDP(epsilon=1000))
        sender = device(design, allow_unproven=True)
        sender.answer(codes[:, 0].tolist(), rng=rng.seeded(1), secret=bytes(16), account=account)
        assert [line.epsilon for line in account.ledger.lines] == expected[0]


def charged(own):
    """Return the losses of a report type's parts as the account of a device writes them."""
    losses = [part.lifetime or part.oracle.claim.proven or part.oracle.claim.published for part in own.parts]
    return [f"{one.epsilon.numerator}/{one.epsilon.denominator}" for one in losses]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMPARED))
def test_estimates_are_right_and_a_swapped_probability_is_not(name, tmp_path):
    design, codes, packed, _ = sent(name, COMPARED[name], tmp_path)
    reports = [None if one is None else unpack(one) for one in packed]
    for number, own in enumerate(collection_of(design, allow_unproven=True).types):
        mine = [place for place, one in enumerate(reports) if one is not None and one.report_type == number]
        payloads = np.array([list(reports[place].payload) for place in mine], dtype=np.uint8)
        start = 0
        for part in own.parts:
            values = part.encoder.values(codes[list(part.axes)][:, mine])
            portion = payloads[:, start : start + part.oracle.width]
            assert not unlikely(part.oracle, values, portion)
            wrong, changed = swapped(part.oracle, portion)
            assert part.oracle.size == 1 or unlikely(wrong, values, changed)
            start += part.oracle.width


@pytest.mark.parametrize(
    "name", ["local_krr", "local_sue", "local_oue", "local_hadamard", "joint_rr_ldp", "map_dam", "sets"]
)
def test_a_design_with_swapped_or_too_large_probabilities_is_not_answered(name, tmp_path):
    """Reports would say nothing, or cost more than they say, though the address is that of the copy."""
    ask = json.loads((STORED / name / "design.json").read_text())["ask"]
    own = ask["report_types"][0]["parts"][0]["oracle"]
    one = next(name for name in ("truth", "meets", "p") if name in own)
    own |= {one: own["q"], "q": own["p"]} if "q" in own else {one: str((1 + Fraction(own[one])) / 2)}
    text = json.dumps(ask, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    identity = hashlib.sha256(text.encode()).hexdigest()
    values, _ = people(load_design(STORED / name / "design.json"), 1)
    (found,) = run(tmp_path, identity=identity, said=document(ask), devices=values)
    assert (found.packed, found.charges) == (None, [])
    assert found.refused.startswith("what is asked is not sound: ")


@pytest.mark.slow
def test_a_file_of_reports_becomes_a_release(tmp_path):
    design, codes, packed, _ = sent("local_oue", MANY, tmp_path)
    pq.write_table(table_of([unpack(one) for one in packed]), tmp_path / "reports.parquet")
    release = estimate(design, tmp_path / "reports.parquet")
    assert (release.users, release.rejected) == (MANY, {})
    (attribute,) = design.schema.attributes
    answers = [release.query(f"{attribute.name} = {value}") for value in attribute.values]
    truth, t = np.bincount(codes[0], minlength=attribute.size), -math.log(FALSE_ALARM / attribute.size)
    near = math.sqrt(2 * t) * np.array([one.standard_error for one in answers])
    estimates = np.array([one.value for one in answers])
    assert (abs(estimates - truth) < near).all()
    assert (abs(estimates - truth[::-1]) > near).any()
