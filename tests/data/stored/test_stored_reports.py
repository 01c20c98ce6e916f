"""What is read from a store: every id once, from one moment, in little memory; the same as from a file."""

import tracemalloc

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.release.people import AGE, SEX, spec

from dpress.core.basics import rng
from dpress.core.reports import wire
from dpress.core.reports.wire import Expected, Report
from dpress.data.reports.report_files import read
from dpress.data.stored import stored_reports
from dpress.data.stored.report_store import Upload
from dpress.data.stored.stored_reports import StoredReports
from dpress.document.design import encode
from dpress.release.devices.device import device
from dpress.release.devices.estimate import estimate
from dpress.release.devices.export import export
from dpress.release.plan.plan import design_of

ASK = bytes(range(16))
EXPECTED = Expected(ask=ASK, widths=(1, 2))


def report(number, **changed):
    given = {"ask": ASK, "id": number.to_bytes(16, "little"), "payload": b"\x01", **changed}
    return wire.pack(Report(**given))


def stored(store, *uploads, expected=EXPECTED):
    store.begin("a" * 64, 0, "design")
    for own in uploads:
        store.add([Upload(place=0, reports=len(own), body=b"".join(own))], {})
    return StoredReports(store=store, place=0, keys=store.keys(0), expected=expected)


def ids(reader):
    return sorted(int.from_bytes(bytes(one), "little") for _, own in reader.named() for one in own)


def test_an_id_counts_once_in_however_many_uploads_it_came(opened):
    first, second = [report(one) for one in range(10)], [report(one) for one in range(5, 15)]
    reader = stored(opened(create=True), first, first, second, [report(0), report(0)])
    assert ids(reader) == list(range(15))
    assert reader.rejected == {wire.REPEATED: 17}
    assert reader.rows == 32


def test_ids_that_agree_in_their_first_half_are_told_apart(opened):
    alike = [report(1 + (more << 64)) for more in range(5)]
    reader = stored(opened(create=True), alike, alike[2:4])
    assert ids(reader) == [1 + (more << 64) for more in range(5)]
    assert reader.rejected == {wire.REPEATED: 2}


def test_what_does_not_fit_is_counted_and_takes_no_ones_id(opened):
    """The service refuses these; a store that somebody else wrote may hold them."""
    others = [report(3, round=1), report(3, ask=bytes(16)), report(3, report_type=2), report(3, payload=b"12")]
    reader = stored(opened(create=True), others, [report(3), report(4, report_type=1, payload=b"12")])
    assert ids(reader) == [3, 4]
    assert reader.rejected == {
        wire.OTHER_ROUND: 1, wire.OTHER_ASK: 1, wire.UNKNOWN_TYPE: 1, wire.WRONG_LENGTH: 1,
    }  # fmt: skip


def test_uploads_that_arrive_while_they_are_read_change_nothing(opened, monkeypatch):
    monkeypatch.setattr(stored_reports, "TOGETHER", 1)
    store = opened(create=True)
    reader = stored(store, *[[report(one), report(one)] for one in range(8)])
    found, late = [], 100
    for _, own in reader.named():
        found += [int.from_bytes(bytes(one), "little") for one in own]
        store.add([Upload(place=0, reports=2, body=report(late) + report(0))], {})
        late += 1
    assert sorted(found) == list(range(8))
    assert reader.rejected == {wire.REPEATED: 8}
    again = StoredReports(store=store, place=0, keys=reader.keys, expected=EXPECTED)
    assert ids(again) == list(range(8))
    assert len(ids(StoredReports(store=store, place=0, keys=store.keys(0), expected=EXPECTED))) == 16


def test_a_damaged_store_is_named(opened):
    reader = stored(opened(create=True), [report(1)], [report(2)[:-1]])
    with pytest.raises(OSError, match="the store is damaged: an upload in it is no reports back to back"):
        ids(reader)


def collected(store, asked, count=400):
    """Return a design, and the reports of so many devices that were stored in several uploads, some of them twice."""
    design, sender, generator = design_of(asked), device(asked), rng.seeded(6)
    packed = [sender.answer((one % 10, one % 2), rng=generator, once=True) for one in range(count)]
    store.begin(design.id, 0, encode(design))
    for own in (packed[:50], packed[50:], packed[30:90]):
        store.add([Upload(place=0, reports=len(own), body=b"".join(own))], {})
    return design, packed


@pytest.mark.parametrize("method", ["krr", "oue", "rappor"])
def test_an_export_and_the_store_give_the_same_release(opened, store_url, tmp_path, method):
    design, packed = collected(opened(create=True), spec(AGE, SEX, method=method))
    count, rejected = export(design, store_url, out=tmp_path / "reports.parquet")
    assert (count, rejected) == (400, {wire.REPEATED: 60})
    said = pq.read_table(tmp_path / "reports.parquet", columns=["id"])["id"].to_pylist()
    assert sorted(said) == sorted(msgspec.msgpack.decode(one, type=Report).id for one in packed)
    ours = estimate(design, store_url, out=tmp_path / "ours")
    theirs = estimate(design, tmp_path / "reports.parquet", out=tmp_path / "theirs")
    assert ours.users == theirs.users == 400
    assert (ours.rejected, theirs.rejected) == ({wire.REPEATED: 60}, {})
    tables = sorted(path.name for path in (tmp_path / "ours").glob("*.parquet"))
    assert tables
    assert all(
        pq.read_table(tmp_path / "ours" / one).equals(pq.read_table(tmp_path / "theirs" / one)) for one in tables
    )
    assert read((tmp_path / "reports.parquet",), Expected(ask=bytes(16), widths=(1,))).rows == 400


def test_the_order_of_an_export_tells_nothing_of_the_arrival(opened, store_url, tmp_path):
    store = opened(create=True)
    design, sender, generator = design_of(spec(AGE, method="krr")), device(spec(AGE, method="krr")), rng.seeded(6)
    store.begin(design.id, 0, encode(design))
    packed = [sender.answer((one % 10,), rng=generator) for one in range(12)]
    for one in packed:
        store.add([Upload(place=0, reports=1, body=one)], {})
    export(design, store_url, out=tmp_path / "reports.parquet")
    arrived = [msgspec.msgpack.decode(one, type=Report).id for one in packed]
    found = pq.read_table(tmp_path / "reports.parquet", columns=["id"])["id"].to_pylist()
    assert sorted(found) == sorted(arrived)
    assert found != arrived  # chance 1 / 12!, of keys that are drawn anew


@pytest.mark.slow
def test_memory_is_8_bytes_for_every_report(opened, monkeypatch):
    monkeypatch.setattr(stored_reports, "TOGETHER", 1 << 20)
    store, of = opened(create=True), 20_000
    one = np.frombuffer(report(0), dtype=np.uint8)
    at = one.size - 1 - 4 - 16  # the id: before round, type, length and payload
    store.begin("a" * 64, 0, "design")

    def grown(uploads):
        for _ in range(uploads):
            body = np.tile(one, (of, 1))
            body[:, at : at + 16] = rng.seeded(int(store.reports(0))).words(2 * of).view(np.uint8).reshape(of, 16)
            store.add([Upload(place=0, reports=of, body=body.tobytes())], {})
        reader = StoredReports(store=store, place=0, keys=store.keys(0), expected=EXPECTED)
        tracemalloc.start()
        counted = sum(len(batch.payloads) for batch, _ in reader.named())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert counted == reader.rows
        return counted, peak

    grown(1)  # loads what is loaded once
    few, less = grown(20)
    many, more = grown(60)
    assert (many - few) == 1_200_000
    assert 8 <= (more - less) / (many - few) < 10
