"""reports.json, made by a program of its own: dpress accepts and refuses exactly these, for the stated reason."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpress.core import wire
from dpress.core.claim import PureDP
from dpress.core.errors import ReportRejected
from dpress.data import reports as files
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.hadamard import Hadamard
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.olh import Olh
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.oracle.pcep import Pcep
from dpress.mechanisms.oracle.rappor import Rappor, positions
from dpress.mechanisms.oracle.subset_selection import SubsetSelection
from dpress.mechanisms.oracle.sue import Sue
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Question
from dpress.noise import permanent
from dpress.release.device import Intake

GOLDEN = json.loads(Path(__file__).with_name("reports.json").read_text())
VECTORS = GOLDEN["vectors"]
PLAIN = {"krr": Krr, "hadamard": Hadamard, "olh": Olh, "sue": Sue, "oue": Oue, "subset_selection": SubsetSelection}
BYTES = {  # what `wire.unpack` says of bytes that are no report at all
    "form": "the report is truncated, has trailing bytes, or is no MessagePack",
    "field": "a field of the report is wrong: ",
    "version": "the report has version 2; this collector reads version 1",
}


def oracle(one):
    own = one["parameters"]
    if one["method"] in PLAIN:
        return PLAIN[one["method"]](size=own["size"], loss=PureDP(epsilon=own["epsilon"]))
    if one["method"] == "pcep":
        levels = tuple(PureDP(epsilon=level) for level in own["levels"])
        return Pcep(size=own["size"], levels=levels, rows=own["rows"], regions=tuple(map(tuple, own["regions"])))
    responses = {name: Fraction(own[name]) for name in ("f", "p", "q")}
    if one["method"] == "rr_ldp":
        return RrLdp(sizes=tuple(own["sizes"]), **responses)
    sizes = {name: own[name] for name in ("bits", "hashes", "cohorts")}
    return Rappor(candidates=tuple(own["candidates"]), **sizes, **responses)


def expected(one):
    return wire.Expected(
        spec=bytes.fromhex(one["spec"]), method=one["method"], widths=tuple(one["widths"]), round=one["round"]
    )


def intake(one):
    own = oracle(one)
    question = Question(axes=(0,), oracles=(own,))
    return Intake(
        expected=expected(one), collection=Collection(shape=(own.size,), questions=(question,), split="users")
    )


def refusal(one):
    """Return why dpress refuses the report, or None."""
    try:
        intake(one).accept(bytes.fromhex(one["packed"]))
    except ReportRejected as error:
        return str(error)
    return None


def test_at_least_a_quarter_must_be_refused():
    refused = [one for one in VECTORS if not one["accepted"]]
    assert len(VECTORS) > 100
    assert len(refused) >= len(VECTORS) / 4
    assert (
        {one["method"] for one in refused} == {one["method"] for one in VECTORS} == {*PLAIN, "pcep", "rappor", "rr_ldp"}
    )


def judged_rightly(one):
    said = refusal(one)
    if one["accepted"]:
        return said is None
    return said is not None and said.startswith(BYTES.get(one["reason"], one["reason"]))


def test_exactly_these_are_accepted():
    assert [one["name"] for one in VECTORS if not judged_rightly(one)] == []
    assert not judged_rightly(VECTORS[0] | {"accepted": not VECTORS[0]["accepted"], "reason": "none"})  # the control


def check_fields_and_tally(one):
    packed = bytes.fromhex(one["packed"])
    report = wire.unpack(packed)
    assert oracle(one).width == one["widths"][0], one["name"]
    found = {"version": report.version, "id": report.id.hex(), "question": report.question}
    assert found | {"payload": report.payload.hex()} == one["report"], one["name"]
    assert wire.pack(report) == packed, one["name"]
    tally = oracle(one).tally(np.frombuffer(report.payload, dtype=np.uint8)[None])
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
    pq.write_table(files.table([report]), tmp_path / "reports.parquet")
    reader = files.Reader(path=tmp_path / "reports.parquet", expected=expected(one))
    read = [batch for batch in reader.batches() if len(batch.payloads)]
    faults = [name for batch in read for name, mask in oracle(one).faults(batch.payloads).items() if mask.any()]
    assert [*reader.rejected, *faults][:1] == ([] if one["accepted"] else [one["reason"]]), one["name"]


def test_a_file_of_the_report_gives_the_same_verdict(tmp_path):
    """Bytes that are no report cannot be in a file; another version can."""
    for one in VECTORS:
        check_verdict_of_a_file(one, tmp_path)


@pytest.mark.parametrize("one", [one for one in VECTORS if one["method"] == "rappor" and one["accepted"]])
def test_bloom_filters_agree(one):
    said, own = one["meaning"], one["parameters"]
    for candidate in own["candidates"]:
        found = positions(candidate, said["cohort"], bits=own["bits"], hashes=own["hashes"])
        assert sorted(set(found)) == said["blooms"][candidate]


@pytest.mark.parametrize("one", GOLDEN["permanent"])
def test_permanent_responses_agree(one):
    secret = np.frombuffer(bytes.fromhex(one["secret"]), dtype=np.uint8)[None]
    slot = permanent.Slot(bytes.fromhex(one["spec"]), one["question"])
    p, value = Fraction(one["threshold"], 2**32), np.array([one["value"]])
    packed = permanent.flips(secret, value, one["size"], p=p, slot=slot)
    flipped = np.flatnonzero(np.unpackbits(packed[0], bitorder="little"))
    assert flipped.tolist() == one["flipped"]
    assert permanent.cohorts(secret, one["cohorts"], collection=slot.collection).tolist() == [one["cohort"]]


@pytest.mark.parametrize("one", GOLDEN["projections"])
def test_projections_agree(one):
    seed, loss = bytes.fromhex(one["seed"]), PureDP(epsilon=1)
    cells = tuple((cell,) for cell in range(one["size"]))  # tiny regions: any number of rows will do
    own = Pcep(size=one["size"], levels=(loss,), rows=one["rows"], regions=cells, seed=seed)
    assert [np.flatnonzero(row > 0).tolist() for row in own.signs] == one["positive"]


def test_the_program_shares_no_code():
    text = Path(__file__).with_name("make_reports.py").read_text()
    assert not [line for line in text.splitlines() if line.startswith(("import", "from")) and "dpress" in line]
