"""Collections in rounds: who reports when, what the next round is made of, and what is refused."""

import json
import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import load_release
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported, ReportRejected, SchemaMismatch
from dpress.core.reports import wire
from dpress.data.specification.spec import from_dict
from dpress.data.table import Table
from dpress.document.design import collection_id, decode, encode
from dpress.query.designs import load_design
from dpress.release.devices.device import device, intake
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import NEXT, next_design
from dpress.release.devices.perturb import perturb
from dpress.release.devices.user_groups import NOBODY, drawing, user_groups
from dpress.release.plan.plan import plan

pytestmark = pytest.mark.slow

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
            own = load_design(folder / NEXT)

    return rounds


def designed(**own):
    return plan(spec(**own)).design


def test_the_groups_of_the_rounds_are_disjoint_and_together_everybody(run):
    folders, counts = run(spec())
    assert len(folders) == 3
    assert sum(counts) == USERS
    assert min(counts) > USERS / 8
    drawn = []
    for own in [designed(), *(load_design(folder / NEXT) for folder in folders[:-1])]:
        draw = drawing(user_groups(own))
        parts = [draw(size, rng.seeded(size)) for size in (1, USERS // 3, USERS - USERS // 3 - 1)]  # in batches
        drawn.append(np.concatenate(parts) != NOBODY)
    assert [int(one.sum()) for one in drawn] == counts
    assert (np.sum(drawn, axis=0) == 1).all()
    assert load_release(folders[-1]).users == USERS
    assert load_release(folders[0]).users == counts[0]


def drawn_groups(own, devices):
    """Return the group of every device, round after round."""
    groups = user_groups(own)
    found = np.full(devices, NOBODY)
    for number in range(len(groups.types)):
        drawn = drawing(replace(groups, number=number))(devices, rng.seeded(1))
        found = np.where(drawn == NOBODY, found, drawn + sum(groups.types[:number]))
    return found


def test_user_groups_are_even_and_those_of_another_collection_are_others():
    own = designed(rounds=4)
    groups, number = drawn_groups(own, 100_000), user_groups(own).all
    expected = 100_000 / number
    deviation = math.sqrt(expected * (1 - 1 / number))
    for one in range(number):
        assert abs((groups == one).sum() - expected) < NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / number) * deviation
    other = drawn_groups(designed(rounds=4, epsilon=1.5), 100_000)
    by_chance = 1 / number
    assert abs((groups == other).mean() - by_chance) < 6 * math.sqrt(by_chance * (1 - by_chance) / 100_000)


@pytest.mark.parametrize("own", [spec(), spec(method="auto"), spec(users=9)], ids=["ahead", "auto", "users"])
def test_all_rounds_have_one_name_and_the_first_settles_them(run, own):
    (folder,), _ = run(own, last=0)
    first, following = plan(own).design, load_design(folder / NEXT)
    assert user_groups(following).key == user_groups(first).key == user_groups(designed()).key
    assert user_groups(designed(epsilon=2.0)).key != user_groups(first).key
    assert following.id != first.id
    assert following.method == "ahead"
    assert (following.round, following.ask.rounds.number) == (1, 1)
    assert following.schema.shape == first.schema.shape == (16, 16)
    assert following.ask.rounds.collection == first.id
    assert collection_id(following.ask) == bytes.fromhex(first.id)[:16]


def test_the_next_design_follows_from_the_release_and_from_nothing_else(run):
    (folder,), _ = run(spec(), last=0)
    release = load_release(folder)
    written = (folder / NEXT).read_text(encoding="utf-8")
    assert written == encode(next_design(release))
    (folder / NEXT).unlink()
    assert encode(next_design(load_release(folder))) == written
    edited = json.loads(written)
    edited["estimator"]["earlier"][0]["counts"][0] += 1
    assert decode(json.dumps(edited)) != next_design(release)
    assert decode(written) == next_design(release)


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
    assert next_design(load_release(folders[-1])) is None
    assert not (folders[-1] / NEXT).exists()


def test_reports_of_another_round_are_rejected_and_counted(run, tmp_path):
    folders, counts = run(spec(), last=0)
    following = load_design(folders[0] / NEXT)
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
    rounds = [device(one) for one in (spec(), *(load_design(folder / NEXT) for folder in folders[:-1]))]
    door, answered, asked = intake(spec()), np.zeros((len(rounds), len(SECRETS)), dtype=bool), set()
    codes = rounds[0].codes({"x": 1.0, "y": 7.5})
    for number, sender in enumerate(rounds):
        for place, secret in enumerate(SECRETS):
            packed = sent(sender, codes, secret)
            if packed is None:
                continue
            answered[number, place] = True
            if number == 0:
                asked.add(door.accept(packed).report_type)
            else:
                with pytest.raises(ReportRejected, match=wire.OTHER_ASK):
                    door.accept(packed)
    assert (answered.sum(axis=0) == 1).all()
    assert answered.any(axis=1).all()
    assert asked == {0, 1}
    late = SECRETS[int(np.flatnonzero(~answered[0])[0])]
    with pytest.raises(NotSupported, match=r"this device reports in round [12], not in round 0: it sends nothing"):
        rounds[0].answer(codes, rng=rng.seeded(1), secret=late)


def test_a_device_without_a_secret_must_say_that_it_reports_once():
    sender = device(spec())
    with pytest.raises(ValueError, match="ahead asks every device in one round only"):
        sender.answer((0, 0), rng=rng.seeded(1))
    found = {intake(spec()).accept(sender.answer((0, 0), rng=rng.seeded(k), once=True)).report_type for k in range(40)}
    assert found == {0, 1}


def without_the_first(plain):
    plain["estimator"]["earlier"].pop(0)


def all_over(plain):
    plain["estimator"]["earlier"] = []


def twice(plain):
    plain["estimator"]["earlier"] *= 2


def of_another_round(plain):
    plain["ask"]["rounds"]["number"] = 2


def of_another_depth(plain):
    plain["ask"]["rounds"]["types"] = [3, 1]


def of_other_leaves(plain):
    plain["ask"]["report_types"][0]["parts"][0]["encoder"]["leaves"].pop()


@pytest.mark.parametrize(
    "change", [without_the_first, all_over, twice, of_another_round, of_another_depth, of_other_leaves]
)
def test_a_round_that_does_not_follow_is_refused(run, change):
    (folder,), _ = run(spec(), last=0)
    plain = json.loads((folder / NEXT).read_text(encoding="utf-8"))
    change(plain)
    (folder / NEXT).write_text(json.dumps(plain))
    with pytest.raises(SchemaMismatch, match=NEXT):
        load_design(folder / NEXT)


def test_other_methods_have_no_rounds(run):
    own = spec(method="gtr_top_down")
    with pytest.raises(ValueError, match="unknown parameter 'rounds' for gtr_top_down"):
        plan(own)
    release = {"kind": "spatial", "method": "gtr_top_down", "parameters": {"height": 2}}
    privacy = {"model": "local", "epsilon": 1.0}
    (folder,), counts = run(from_dict({"attribute": [PLACE], "privacy": privacy, "release": release}))
    assert counts == [USERS]
    assert next_design(load_release(folder)) is None


def test_rows_keep_their_round_however_the_file_is_laid_out(tmp_path):
    rows = 300_000
    table = pa.table({"lon": np.arange(rows) / rows, "lat": np.arange(rows) / rows})
    pq.write_table(table, tmp_path / "points.parquet", row_group_size=50_000)
    read = []
    for _ in range(2):
        batches = Table(tmp_path / "points.parquet", ("lon", "lat"), ROW).batches()
        read.append(np.concatenate([np.asarray(batch.column("lon")) for batch in batches]))
    assert np.array_equal(read[0], np.asarray(table["lon"]))
    assert np.array_equal(read[1], read[0])


def test_what_only_the_plan_uses_redraws_no_group():
    same = [designed(), designed(area=[0.01, 0.1]), designed(users=77)]
    assert len({one.id for one in same}) == len({user_groups(one).key for one in same}) == 1
    assert designed(height=3).id != designed(height=4).id
