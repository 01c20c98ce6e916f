"""Collections in rounds: who reports when, what the next round is made of, and what is refused."""

import math
import tomllib
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import load_release
from dpress.core import rng, wire
from dpress.core.claim import ROW
from dpress.core.errors import NotSupported, ReportRejected, SchemaMismatch
from dpress.data.spec import from_dict, load_spec
from dpress.data.table import Table
from dpress.data.toml import as_toml
from dpress.mechanisms.protocol.rounds import in_rounds
from dpress.release.collections import asked_id
from dpress.release.device import device, intake
from dpress.release.estimate import collection_of, estimate
from dpress.release.perturb import perturb
from dpress.release.plan import plan
from dpress.release.rounds import NEXT, NOBODY, collection_id, drawing, next_spec

FALSE_ALARM = 1e-6
PLACE = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 8], [0, 8]]}
USERS = 3000
PEOPLE = pa.table({"x": [(k * k % 97) / 20 for k in range(USERS)], "y": [(k * k * k % 89) / 30 for k in range(USERS)]})
SECRETS = [bytes([k, *range(31)]) for k in range(120)]


def spec(epsilon=1.0, method="ahead", **parameters):
    given = {"users": USERS, "rounds": 3, "height": 4, **parameters}
    release = {"kind": "spatial", "method": method, "parameters": given}
    return from_dict({"attribute": [PLACE], "privacy": {"model": "local", "epsilon": epsilon}, "release": release})


@pytest.fixture
def run(tmp_path):
    """Run rounds one after the other; return the folders of their releases and the numbers of their reports."""

    def rounds(own, people=PEOPLE, last=None, seed=1):
        folders, counts = [], []
        while True:
            number = len(folders)
            reports, folder = tmp_path / f"{seed}.{number}.parquet", tmp_path / f"{seed}.{number}"
            counts.append(perturb(own, people, out=reports, rng=rng.seeded(seed + number)))
            estimate(own, reports, out=folder)
            folders.append(folder)
            if number == last or not (folder / NEXT).exists():
                return folders, counts
            own = load_spec(folder / NEXT)

    return rounds


def turns(own):
    planned = plan(own)
    found = in_rounds(collection_of(planned).spatial)
    return found, collection_id(own, planned.chosen.method, found)


def test_the_groups_of_the_rounds_are_disjoint_and_together_everybody(run):
    folders, counts = run(spec())
    assert len(folders) == 3
    assert sum(counts) == USERS
    assert min(counts) > USERS / 8
    drawn = []
    for own in [spec(), *(load_spec(folder / NEXT) for folder in folders[:-1])]:
        draw = drawing(*turns(own))
        parts = [draw(size, rng.seeded(size)) for size in (1, USERS // 3, USERS - USERS // 3 - 1)]  # in batches
        drawn.append(np.concatenate(parts) != NOBODY)
    assert [int(one.sum()) for one in drawn] == counts
    assert (np.sum(drawn, axis=0) == 1).all()
    assert load_release(folders[-1]).users == USERS
    assert load_release(folders[0]).users == counts[0]


def test_lots_are_even_and_those_of_another_collection_are_others():
    own, name = turns(spec(rounds=4))
    lots = drawing(own, name)(100_000, rng.seeded(1))
    expected = 100_000 / own.lots
    deviation = math.sqrt(expected * (1 - 1 / own.lots))
    assert abs((lots == 0).sum() - expected) < NormalDist().inv_cdf(1 - FALSE_ALARM / 2) * deviation
    other = drawing(*turns(spec(rounds=4, epsilon=1.5)))(100_000, rng.seeded(1))
    assert 0.5 < (lots == other).mean() < 0.9  # 5/8 by chance: nothing in common


@pytest.mark.parametrize("own", [spec(), spec(method="auto"), spec(users=9)], ids=["ahead", "auto", "users"])
def test_all_rounds_have_one_name_and_what_is_left_open_is_settled_by_the_first(run, own):
    (folder,), _ = run(own, last=0)
    following = load_spec(folder / NEXT)
    assert turns(following)[1] == turns(own)[1] == turns(spec())[1]
    assert turns(spec(epsilon=2.0))[1] != turns(own)[1]
    assert following.hash != own.hash
    assert following.release.method == "ahead"
    assert following.release.parameters["round"] == 1
    assert following.release.parameters["height"] == 4


def test_the_next_specification_follows_from_the_release_and_from_nothing_else(run):
    (folder,), _ = run(spec(), last=0)
    release = load_release(folder)
    written = (folder / NEXT).read_text(encoding="utf-8")
    assert written == as_toml(next_spec(release))
    (folder / NEXT).unlink()
    assert as_toml(next_spec(load_release(folder))) == written
    edited = tomllib.loads(written)
    edited["release"]["parameters"]["earlier"][0]["counts"][0] += 1
    assert from_dict(edited).hash != next_spec(release).hash


def test_every_round_is_read_back_and_answers(run):
    folders, _ = run(spec())
    errors = []
    for folder in folders:
        release = load_release(folder)
        assert release.manifest()["charged"] == {"epsilon": "1"}
        asked = release.query("x in 0..4 and y in 0..4")
        errors.append(asked.standard_error / release.users)
        assert asked.value > 0.5 * release.users
    assert errors[-1] < errors[0]
    assert next_spec(load_release(folders[-1])) is None
    assert not (folders[-1] / NEXT).exists()


def test_reports_of_another_round_are_rejected_and_counted(run, tmp_path):
    folders, counts = run(spec(), last=0)
    following = load_spec(folders[0] / NEXT)
    with pytest.raises(SchemaMismatch, match=f"none of the {counts[0]:,} reports .* {wire.OTHER_ASK}"):
        estimate(following, tmp_path / "1.0.parquet")
    second = tmp_path / "second.parquet"
    number = perturb(following, PEOPLE, out=second, rng=rng.seeded(7))
    mixed = pa.concat_tables([pq.read_table(second), pq.read_table(tmp_path / "1.0.parquet")])
    pq.write_table(mixed, tmp_path / "mixed.parquet")
    release = estimate(following, tmp_path / "mixed.parquet")
    assert release.rejected == {wire.OTHER_ASK: counts[0]}
    assert release.users == counts[0] + number


def sent(sender, codes, secret):
    try:
        return sender.answer(codes, rng=rng.seeded(secret[0]), secret=secret)
    except NotSupported:
        return None


def test_a_device_with_a_secret_reports_in_one_round_of_all(run):
    folders, _ = run(spec())
    rounds = [device(one) for one in (spec(), *(load_spec(folder / NEXT) for folder in folders[:-1]))]
    door, answered, questions = intake(spec()), np.zeros((len(rounds), len(SECRETS)), dtype=bool), set()
    codes = rounds[0].codes({"x": 1.0, "y": 7.5})
    for number, sender in enumerate(rounds):
        for place, secret in enumerate(SECRETS):
            packed = sent(sender, codes, secret)
            if packed is None:
                continue
            answered[number, place] = True
            if number == 0:
                questions.add(door.accept(packed).report_type)
            else:
                with pytest.raises(ReportRejected, match=wire.OTHER_ASK):
                    door.accept(packed)
    assert (answered.sum(axis=0) == 1).all()
    assert answered.any(axis=1).all()
    assert questions == {0, 1}
    late = SECRETS[int(np.flatnonzero(~answered[0])[0])]
    with pytest.raises(NotSupported, match=r"this device reports in round [12], not in round 0: it sends nothing"):
        rounds[0].answer(codes, rng=rng.seeded(1), secret=late)


def test_a_device_without_a_secret_must_say_that_it_reports_once():
    sender = device(spec())
    with pytest.raises(ValueError, match="ahead asks every device in one round only"):
        sender.answer((0, 0), rng=rng.seeded(1))
    found = {intake(spec()).accept(sender.answer((0, 0), rng=rng.seeded(k), once=True)).report_type for k in range(40)}
    assert found == {0, 1}


@pytest.mark.parametrize("change", [{"round": 0}, {"round": 2}])
def test_a_round_that_does_not_follow_is_refused(run, change):
    (folder,), _ = run(spec(), last=0)
    plain = tomllib.loads((folder / NEXT).read_text(encoding="utf-8"))
    plain["release"]["parameters"] |= change
    with pytest.raises(ValueError, match=r"parameters\.round: ahead is in round 1 after `earlier`"):
        device(from_dict(plain))


def test_other_methods_have_no_rounds(run):
    own = spec(method="gtr_top_down")
    with pytest.raises(ValueError, match="unknown parameter 'rounds' for gtr_top_down"):
        plan(own)
    release = {"kind": "spatial", "method": "gtr_top_down", "parameters": {"height": 2}}
    privacy = {"model": "local", "epsilon": 1.0}
    (folder,), counts = run(from_dict({"attribute": [PLACE], "privacy": privacy, "release": release}))
    assert counts == [USERS]
    assert next_spec(load_release(folder)) is None


def test_rows_keep_their_round_however_the_file_is_laid_out(tmp_path):
    rows = 300_000
    table = pa.table({"lon": np.arange(rows) / rows, "lat": np.arange(rows) / rows})
    pq.write_table(table, tmp_path / "points.parquet", row_group_size=50_000)
    read = []
    for _ in range(2):
        batches = Table(tmp_path / "points.parquet", ("lon", "lat"), ROW, in_order=True).batches()
        read.append(np.concatenate([np.asarray(batch.column("lon")) for batch in batches]))
    assert np.array_equal(read[0], np.asarray(table["lon"]))
    assert np.array_equal(read[1], read[0])


def test_what_only_the_plan_uses_redraws_no_lot():
    specs = [spec(), spec(area=[0.01, 0.1]), spec(users=77)]
    assert len({asked_id(one) for one in specs}) == 1
    assert asked_id(spec(height=3)) != asked_id(spec(height=4))
