"""`dpress records` of every kind: it fulfils the condition and has the release's shares, or a line says why not."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW, households, tables
from tests.kinds.regions.small_country import people, specification

import dpress
from dpress.cli.records import command
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.inference.records import latent_classes
from dpress.query import made_records, record_source
from dpress.query.made_records import write_records, write_tables

DRAWN = 4000
FALSE_ALARM = 6  # standard errors: 2e-9 for every share


def near(share: float, expected: float) -> bool:
    return abs(share - expected) <= FALSE_ALARM * (0.25 / DRAWN) ** 0.5


def drawn(release, folder, where="", count=DRAWN):
    return pq.read_table(write_records(release, count, folder / "drawn.parquet", where=where))


def made(parameters, name, values, kind="microdata", **others):
    ages = {"name": "age", "kind": "integer", "bounds": [0, 89]}
    rooms = {"name": "rooms", "kind": "integer", "bounds": [1, 8]}
    total = {"name": "total", "kind": "integer", "bounds": [3, 10]}
    rows = pa.table({"age": [k * 37 % 90 for k in range(600)], "rooms": [k % 8 + 1 for k in range(600)]})
    rows = rows.append_column("total", pa.array([k % 8 + 3 for k in range(600)]))
    release = {"kind": kind, "parameters": parameters, **values}
    spec = {"attribute": [ages, rooms, total], "privacy": {"epsilon": 2}, "release": release, **others}
    return dpress.publish(spec, rows, rng=rng.seeded(name))


@pytest.fixture(scope="module")
def microdata():
    sums = [{"holds": "total = rooms + 2"}, {"holds": "age >= 20 or rooms <= 4"}]
    return made({}, 3, {"method": "graphical"}, constraint=sums)


def test_records_are_drawn_again_from_those_that_were_made(microdata, tmp_path):
    records = microdata.detail.table
    matching = [row for row in records.to_pylist() if 30 <= row["age"] <= 40 or row["rooms"] == 1]
    rows = drawn(microdata, tmp_path, "age in 30..40 or rooms = 1").to_pylist()
    assert len(rows) == DRAWN > len(matching)
    assert {*map(str, rows)} <= {*map(str, matching)}
    assert all(row["total"] == row["rooms"] + 2 and (row["age"] >= 20 or row["rooms"] <= 4) for row in rows)
    first = [sum(row["rooms"] == 1 for row in each) / len(each) for each in (rows, matching)]
    assert near(*first)


def test_the_command_says_that_they_are_drawn_with_replacement(microdata, tmp_path):
    microdata.write(tmp_path / "release")
    number = microdata.detail.table.num_rows
    arguments = [str(tmp_path / "release"), "--count", "9", "--out", str(tmp_path / "r.csv")]
    told = CliRunner().invoke(command, arguments)
    assert f"Each is one of {number:,} records, drawn with replacement: the model behind them is not" in told.output
    aligned = made({"users": 600}, 3, {"method": "per_record"})
    aligned.write(tmp_path / "aligned")
    arguments = [str(tmp_path / "aligned"), "--count", "9", "--out", str(tmp_path / "a.csv"), "--json"]
    rows = json.loads(CliRunner().invoke(command, arguments).output)["rows"]
    assert rows == {"count": 600, "standard_error": None, "low": None, "high": None}  # no error is known
    with pytest.raises(ValueError, match="'rooms = 8 and age = 3' holds of no record"):
        drawn(microdata, tmp_path, "rooms = 8 and age = 3")


@pytest.fixture(scope="module")
def linked():
    """Households whose persons' pay is in bins, so that it is drawn within cells, under a comparison of persons."""
    pay = {"name": "pay", "kind": "numeric", "bounds": [0, 9], "bins": 3}
    spec = {
        "table": [{**ABOVE, "derived": {}}, {**BELOW, "attributes": ["role", "age", "pay"]}],
        "attribute": [*ATTRIBUTES[:3], pay],
        "privacy": {"unit": "hhid", "epsilon": 20.0},
        "release": {"kind": "microdata", "method": "graphical"},
        "constraint": [{"holds": "role = head", "persons": "first"}, {"holds": "pay <= pay_1", "persons": "others"}],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(latent_classes, "affordable", lambda _: (1, 2))  # one short fit: how near it is, nobody looks at
        return dpress.publish(spec, tables(*households(60)), rng=rng.seeded(2))


def test_households_are_drawn_whole(linked, tmp_path):
    rows = drawn(linked, tmp_path, "persons >= 1", 50).to_pylist()
    assert {row["role_1"] for row in rows} == {"head"}
    assert {*map(str, rows)} <= {*map(str, linked.detail.table.to_pylist())}


def test_a_folder_gets_both_tables_with_keys_that_match(linked, tmp_path, monkeypatch):
    monkeypatch.setattr(record_source, "BATCH", 7)  # several parts, whose numbers go on
    folder = write_tables(linked, 50, tmp_path / "both", where="persons >= 2", csv=True)
    above, below = (pq.read_table(folder / f"{name}.parquet") for name in ("households", "persons"))
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{ending}" for name in ("households", "persons") for ending in ("parquet", "csv")
    }
    linked.write(tmp_path / "release")
    published = [pq.read_table(tmp_path / "release" / f"{name}.parquet") for name in ("households", "persons")]
    assert [above.schema, below.schema] == [table.schema for table in published]
    for name, table in (("households", above), ("persons", below)):
        assert pyarrow.csv.read_csv(folder / f"{name}.csv")["hhid"].to_pylist() == table["hhid"].to_pylist()
    assert above["hhid"].to_pylist() == [*range(1, 51)]
    persons = {number: [] for number in range(1, 51)}
    for person in below.to_pylist():
        persons[person["hhid"]].append(person)
    made = {(row["region"], row["persons"], row["age_1"], row["age_2"]) for row in linked.detail.table.to_pylist()}
    for house in above.to_pylist():
        first, *others = persons[house["hhid"]]
        assert (house["region"], 1 + len(others), first["age"], others[0]["age"]) in made
        assert first["role"] == "head"
        assert all(other["pay"] <= first["pay"] for other in others)


def test_the_command_writes_a_folder_for_two_tables_alone(linked, microdata, tmp_path, monkeypatch):
    linked.write(tmp_path / "linked")
    microdata.write(tmp_path / "plain")

    def told(release, out, *more):
        words = [str(tmp_path / release), "--count", "9", "--out", str(tmp_path / out), *more]
        result = CliRunner().invoke(command, words)
        return str(result.exception) if result.exception else result.output

    assert "(9)" in told("linked", "both")
    assert {path.name for path in (tmp_path / "both").iterdir()} == {"households.parquet", "persons.parquet"}
    assert "a name without an ending makes a folder of both tables" in told("linked", "h.csv")
    assert "both exists already; records are never overwritten" in told("linked", "both")
    assert "i.csv: expected a folder, without an ending" in told("linked", "i.csv", "--csv")
    assert "a folder is for records of two tables" in told("plain", "none")
    monkeypatch.setattr(made_records, "as_written", full_disk)
    assert "the disk is full" in told("linked", "partial")
    assert not [path for path in tmp_path.iterdir() if path.name in ("none", "partial", "i.csv")]


@pytest.mark.parametrize("write", [write_records, write_tables])
def test_records_get_their_place_once_they_are_whole_and_leave_nothing_where_they_are_stopped(
    linked, tmp_path, monkeypatch, write
):
    place = tmp_path / ("both" if write is write_tables else "drawn.csv")
    written = made_records.as_written

    def watched(path, batch):
        assert not place.exists()
        return written(path, batch)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(made_records, "as_written", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(linked, 50, place)
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr(made_records, "as_written", watched)
    assert write(linked, 50, place).exists()
    assert [*tmp_path.iterdir()] == [place]


def full_disk(*_):
    raise OSError("the disk is full")


def test_records_of_regions_are_of_finest_regions_by_their_counts(tmp_path):
    release = dpress.publish(specification({"rho": 5}), people(), out=tmp_path / "regions", rng=rng.seeded(3))
    rows = drawn(dpress.load_release(tmp_path / "regions"), tmp_path, "county = 2C and sex = f").to_pylist()
    assert {row["place"] for row in rows} <= {"2C1", "2C2", "2C3", "2C4"}
    assert {row["sex"] for row in rows} == {"f"}
    expected = release.query("tract = 2C1 and sex = f").value / release.query("county = 2C and sex = f").value
    assert near(sum(row["place"] == "2C1" for row in rows) / DRAWN, expected)
    some = dpress.publish(specification(tables=[["sex"], ["age"]]), people(), rng=rng.seeded(3))
    with pytest.raises(NotSupported, match=r"kind 'regions' .* has no joint distribution of all its attributes"):
        write_records(some, 5, tmp_path / "r.parquet")


def test_positions_of_a_map_lie_in_the_rectangles_as_its_counts_do(tmp_path):
    place = {"name": "at", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 8], [0, 4]]}
    lon = [k % 16 / 2 if k % 3 else 1.3 for k in range(3000)]
    rows = pa.table({"lon": lon, "lat": [k % 7 / 2 for k in range(3000)]})
    spec = {"attribute": [place], "privacy": {"epsilon": 5}, "release": {"kind": "spatial"}}
    release = dpress.publish(spec, rows, rng=rng.seeded(3))
    where = "lon in 1.1..3.3 and lat in 0..2 or lon in 5..8"
    held = drawn(release, tmp_path, where).to_pylist()
    assert all((1.1 <= p["lon"] <= 3.3 and p["lat"] <= 2) or 5 <= p["lon"] < 8 for p in held)
    counts = release.answers.density.counts.clip(0)
    side = len(counts)
    whole = pq.read_table(write_records(release, DRAWN, tmp_path / "all.parquet"))["lon"].to_numpy()
    assert near((whole < 4).mean(), counts[: side // 2].sum() / counts.sum())


def test_names_are_drawn_by_their_counts(tmp_path):
    shop = {"name": "shop", "kind": "categorical", "values": "discover"}
    words = [("tea", 600), ("milk", 300), ("salt", 2)]
    rows = pa.table({"shop": [word for word, number in words for _ in range(number)]})
    spec = {"attribute": [shop], "privacy": {"epsilon": 2, "delta": 1e-6}, "release": {"kind": "names"}}
    release = dpress.publish(spec, rows, rng=rng.seeded(3))
    listed = drawn(release, tmp_path, "shop in (tea, milk)")["shop"].to_pylist()
    tea, milk = (release.query(f"shop = {word}").value for word in ("tea", "milk"))
    assert {*listed} == {"tea", "milk"}
    assert near(listed.count("tea") / DRAWN, tea / (tea + milk))


@pytest.mark.parametrize("kind", ["joint", "histogram"])
def test_conditions_that_a_release_was_not_fitted_under_hold_in_what_is_drawn(kind, tmp_path):
    released = made({}, 3, {}, kind=kind)
    never = "not (rooms = 1 and total > 3) and (age >= 20 or rooms <= 4)"
    for where, kept in (("", False), (never, True)):
        file = write_records(released, DRAWN, tmp_path / f"{bool(where)}.parquet", where=where)
        rows = pq.read_table(file).to_pylist()
        fine = [(row["rooms"] > 1 or row["total"] == 3) and (row["age"] >= 20 or row["rooms"] <= 4) for row in rows]
        assert all(fine) is kept
    with pytest.raises(NotSupported, match="`dpress records --where` draws records that fulfil a condition"):
        made({}, 3, {}, kind=kind, constraint=[{"holds": "total = rooms + 2"}])


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ({"kind": "statistics", "parameters": {"mean": ["rooms", "age", "total"]}}, "has statistics of groups, and no"),
        ({"kind": "queries", "parameters": {"queries": ["rooms >= 4"]}}, "has answers to queries, and no joint"),
        ({"kind": "marginals", "parameters": {"tables": [["age"]]}}, "has no joint distribution of all"),
    ],
)
def test_what_cannot_be_drawn_from_says_why_in_a_line(release, reason, tmp_path):
    whole = made(release["parameters"], 3, {}, kind=release["kind"])
    with pytest.raises(NotSupported, match=reason) as refusal:
        write_records(whole, 5, tmp_path / "r.parquet")
    assert "\n" not in str(refusal.value)
    assert "microdata, joints, maps, names and regions have one" in str(refusal.value)
