"""reports.json, made by a program of its own: dpress accepts, refuses and sends exactly these, for these reasons."""

import hashlib
import json
import math
from fractions import Fraction
from importlib import resources
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.golden.test_read_design import dpress_code
from tests.reading import read_reports, table_of

from dpress import catalog, device, intake, plan
from dpress.attributes.dates.attribute import Date
from dpress.core.basics.errors import ReportRejected
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.plain import plain, read
from dpress.core.basics.rng import Generator
from dpress.core.reports import wire
from dpress.data.specification.spec import from_dict
from dpress.document import design as documents
from dpress.mechanisms.oracle.bloom_filters import positions
from dpress.mechanisms.oracle.loloha import calibrated
from dpress.mechanisms.oracle.pcep import Pcep
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.one_way import OneWay
from dpress.mechanisms.protocol.report_type import Part, ReportType
from dpress.noise import permanent
from dpress.release.devices.device import Intake

GOLDEN = json.loads((resources.files("dpress") / "vectors" / "reports.json").read_text())
VECTORS, DEVICES = GOLDEN["vectors"], GOLDEN["devices"]
METHODS = {
    "circular_wave", "disk_reports", "hadamard", "krr", "loloha", "olh", "one_bit", "oue", "pcep", "pgr", "piecewise",
    "rappor", "rr_ldp", "safe_regions", "square_wave", "subset_selection", "sue",
}  # fmt: skip
BYTES = {  # what `wire.unpack` says of bytes that are no report at all
    "form": "the report is truncated, has trailing bytes, or is no MessagePack",
    "field": "a field of the report is wrong: ",
    "version": "the report has version ",
}


class Scripted(Generator):
    """Draws the words that it is given, and no others."""

    __slots__ = ("left",)

    def __init__(self, words):
        self.left = np.array([int(word, 16) for word in words], dtype=np.uint64)

    @property
    def private(self):
        return False

    def fill(self, out):
        assert out.size <= self.left.size, "more words are drawn than the vector has"
        out[...], self.left = self.left[: out.size].reshape(out.shape), self.left[out.size :]


def oracle(document):
    return read(object, document, find=catalog.find)


def report_type(own):
    """Return the type whose parts these oracles are; each is about an attribute of its own."""
    return ReportType(parts=tuple(Part(axes=(axis,), oracle=oracle(one)) for axis, one in enumerate(own)))


def expected(one):
    widths = tuple(report_type(own).width for own in one["types"])
    return wire.Expected(ask=bytes.fromhex(one["ask"]), widths=widths, round=one["round"])


def door(one):
    types = tuple(map(report_type, one["types"]))
    shape = tuple(each.size for each in max((own.oracles for own in types), key=len))
    estimator = OneWay(shape=shape, types=types)
    collection = Collection(shape=shape, types=types, split="users", estimator=estimator)
    return Intake(expected=expected(one), collection=collection)


def methods(vectors):
    return {document["method"] for one in vectors for own in one["types"] for document in own}


def refusal(one):
    """Return why dpress refuses the report, or None."""
    try:
        door(one).accept(bytes.fromhex(one["packed"]))
    except ReportRejected as error:
        return str(error)
    return None


def test_every_oracle_that_a_device_runs_has_vectors_and_more_than_a_quarter_must_be_refused():
    refused = [one for one in VECTORS if not one["accepted"]]
    assert len(VECTORS) > 200
    assert len(refused) >= len(VECTORS) / 4
    assert methods(refused) == methods(VECTORS) == {one["oracle"]["method"] for one in DEVICES} == METHODS
    assert {name for name, card in catalog.cards().items() if card.oracle is not None} <= METHODS


def judged_rightly(one):
    said = refusal(one)
    if one["accepted"]:
        return said is None
    return said is not None and said.startswith(BYTES.get(one["reason"], one["reason"]))


def test_exactly_these_are_accepted():
    assert [one["name"] for one in VECTORS if not judged_rightly(one)] == []
    assert not judged_rightly(VECTORS[0] | {"accepted": not VECTORS[0]["accepted"], "reason": "none"})  # the control


def test_another_version_is_named():
    said = {refusal(one) for one in VECTORS if one.get("reason") == "version"}
    assert said == {f"the report has version {number}; this collector reads version 2" for number in (1, 3)}


def check_fields_and_tally(one):
    packed = bytes.fromhex(one["packed"])
    report = wire.unpack(packed)
    found = {"version": report.version, "id": report.id.hex(), "report_type": report.report_type}
    assert found | {"payload": report.payload.hex()} == one["report"], one["name"]
    assert wire.pack(report) == packed, one["name"]
    own = report_type(one["types"][report.report_type])
    tally = own.tally(np.frombuffer(report.payload, dtype=np.uint8)[None])
    assert {str(place): int(tally[place]) for place in np.flatnonzero(tally)} == {
        place: times for place, times in one["tally"].items() if times
    }, one["name"]


def test_the_fields_and_the_tally_agree():
    for one in VECTORS:
        if one["accepted"]:
            check_fields_and_tally(one)


def check_verdict_of_a_file(one, tmp_path):
    try:
        report = wire.unpack(bytes.fromhex(one["packed"]))
    except ReportRejected:
        assert one["reason"] in BYTES, one["name"]
        return
    pq.write_table(table_of([report]), tmp_path / "reports.parquet")
    read_, left_out = read_reports(tmp_path / "reports.parquet", expected=expected(one))
    types = [report_type(own) for own in one["types"]]
    found = [(batch, types[batch.report_type].faults(batch.payloads)) for batch in read_]
    faults = [name for _, own in found for name, mask in own.items() if mask.any()]
    assert [*left_out, *faults][:1] == ([] if one["accepted"] else [one["reason"]]), one["name"]


def test_a_file_of_the_report_gives_the_same_verdict(tmp_path):
    """Bytes that are no report cannot be in a file; another version can."""
    for one in VECTORS:
        check_verdict_of_a_file(one, tmp_path)


@pytest.mark.parametrize(
    "one", [one for one in VECTORS if one["accepted"] and one["types"][0][0]["method"] == "rappor"]
)
def test_bloom_filters_agree(one):
    (said,), ((own,),) = one["meaning"], one["types"]
    for candidate in own["candidates"]:
        found = positions(candidate, said["cohort"], bits=own["bits"], hashes=own["hashes"])
        assert sorted(set(found)) == said["blooms"][candidate]


def calibrated_again(made):
    return calibrated(made.size, made.loss, made.g, Fraction(math.ceil(made.lifetime.epsilon)))


def test_documents_are_those_of_the_definitions():
    """A device that is told nothing but its loss comes to the very fractions of the independent program."""
    for document in {json.dumps(one["oracle"]): one["oracle"] for one in DEVICES}.values():
        made = oracle(document)
        assert plain(made) == document
        if "loss" in document:
            stated = ("size", "loss", "grid", "radius", "region_levels", "epsilons", "levels", "groups", "window")
            given = {name: getattr(made, name) for name in stated if name in document}
            again = type(made)(**given) if document["method"] != "loloha" else calibrated_again(made)
            assert plain(again) == document
        if document["method"] == "pcep":
            again = Pcep(size=made.size, levels=made.levels, rows=made.rows, regions=made.regions)
            assert plain(again) == document


def sent(one, **changed):
    """Return the payload of a device that draws these words, and how many of them it left."""
    own, document = one | changed, one["oracle"]
    rng, slot = Scripted(own["words"]), permanent.FIRST
    secrets = None
    if "secret" in own:
        slot = permanent.Slot(collection=bytes.fromhex(own["collection"]), number=own["slot"])
        secrets = np.frombuffer(bytes.fromhex(own["secret"]), dtype=np.uint8)[None]
    values = np.array(own["values"], dtype=np.int32)[:, None]
    given = {} if secrets is None else {"secrets": secrets, "slot": slot}
    made = oracle(document)
    payload = made.perturb(values if len(values) > 1 else values[0], rng=rng, **given)
    return payload.tobytes().hex(), rng.left.size


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_device_sends_exactly_this(method):
    own = [one for one in DEVICES if one["oracle"]["method"] == method]
    assert len(own) >= 6
    assert [sent(one) == (one["payload"], 0) for one in own] == [True] * len(own)
    flipped = [one | {"words": [f"{int(word, 16) ^ (1 << 64) - 1:016x}" for word in one["words"]]} for one in own]
    assert any(sent(one)[0] != one["payload"] for one in flipped)  # the control: other coins, another payload


@pytest.mark.parametrize("name", ["secret", "collection"])
def test_another_secret_or_collection_sends_something_else(name):
    own = [one for one in DEVICES if "secret" in one]
    changed = [sent(one, **{name: "00" * (len(one[name]) // 2)})[0] != one["payload"] for one in own]
    assert np.mean(changed) > 0.5


@pytest.mark.parametrize("one", GOLDEN["wrong"], ids=lambda one: one["name"])
def test_documents_that_no_device_may_act_on_are_refused_in_one_line(one):
    with pytest.raises(ValueError, match=r"^\$[^\n]+$"):
        oracle(one["oracle"])


@pytest.mark.parametrize("one", GOLDEN["asks"], ids=lambda one: str(one["specification"]["release"]["method"]))
def test_what_is_asked_has_this_text_and_this_hash(one):
    ask = plan(from_dict(one["specification"])).design.ask
    assert documents.canonical(ask).decode() == one["canonical"]
    assert documents.identity(ask) == one["id"] == hashlib.sha256(one["canonical"].encode()).hexdigest()


@pytest.mark.parametrize("one", GOLDEN["asks"], ids=lambda one: str(one["specification"]["release"]["method"]))
def test_whole_answers_are_these_and_are_accepted(one):
    design = plan(from_dict(one["specification"])).design
    asked = device(documents.decode(documents.encode(design)))
    for answer in one["answers"]:
        rng, secret = Scripted(answer["words"]), bytes.fromhex(answer["secret"])
        packed = asked.answer(answer["codes"], rng=rng, secret=secret)
        assert packed.hex() == answer["packed"]
        assert rng.left.size == 0
        assert intake(design).accept(packed).report_type == answer["report_type"]


@pytest.mark.parametrize("one", GOLDEN["dates"], ids=lambda one: f"{one['attribute']['cells']}-{one['cells']}")
def test_dates_have_these_codes(one):
    attribute = msgspec.convert(one["attribute"], Date)
    assert attribute.size == one["cells"]
    assert [dpress_code(attribute, value) for value in one["values"]] == [str(code) for code in one["codes"]]


def test_the_answers_are_of_several_types():
    assert {answer["report_type"] for one in GOLDEN["asks"] for answer in one["answers"]} == {0, 1, 2}


@pytest.mark.parametrize("one", GOLDEN["permanent"])
def test_permanent_responses_agree(one):
    secret = np.frombuffer(bytes.fromhex(one["secret"]), dtype=np.uint8)[None]
    slot = permanent.Slot(bytes.fromhex(one["collection"]), one["slot"])
    p, value = Fraction(one["threshold"], 2**32), np.array([one["value"]])
    packed = permanent.flips(secret, value, one["size"], p=p, slot=slot)
    flipped = np.flatnonzero(np.unpackbits(packed[0], bitorder="little"))
    assert flipped.tolist() == one["flipped"]
    assert permanent.cohorts(secret, one["cohorts"], collection=slot.collection).tolist() == [one["cohort"]]
    assert permanent.user_groups(secret, one["weights"], collection=slot.collection).tolist() == [one["drawn"]]


@pytest.mark.parametrize("one", GOLDEN["projections"])
def test_projections_agree(one):
    seed, loss = bytes.fromhex(one["seed"]), PureDP(epsilon=1)
    cells = tuple((cell,) for cell in range(one["size"]))  # tiny regions: any number of rows will do
    own = Pcep(size=one["size"], levels=(loss,), rows=one["rows"], regions=cells, seed=seed)
    assert [np.flatnonzero(row > 0).tolist() for row in own.signs] == one["positive"]


def test_the_program_shares_no_code():
    for path in Path(__file__).parent.glob("make_*.py"):
        lines = path.read_text().splitlines()
        assert not [line for line in lines if line.startswith(("import", "from")) and "dpress" in line], path


def test_the_vectors_of_the_documentation_are_those_of_the_package():
    shown = Path(__file__).parents[2] / "docs" / "reference" / "vectors.json"
    assert shown.read_bytes() == (resources.files("dpress") / "vectors" / "reports.json").read_bytes()
