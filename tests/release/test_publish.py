"""The pipeline of a central release: what is charged when, and what comes back."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import BudgetExceeded, Ledger, NotSupported, PureDP, SchemaMismatch, Unit, load_release, publish
from dpress.core.basics import rng as generators
from dpress.core.basics.claim import ROW, Claim
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query import folder

FALSE_ALARM = 1e-6
Z = 4.9  # two-sided normal quantile of FALSE_ALARM


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "budget.sqlite", limit=PureDP(epsilon=1), unit=Unit())


def spent(ledger):
    return ledger.summary().spent["epsilon"]


@pytest.mark.parametrize("privacy", [{"epsilon": 2.0}, {"rho": 0.5}, {"epsilon": 1.0, "delta": 1e-6}])
@pytest.mark.parametrize(
    ("kind", "attributes", "method"),
    [
        ("ranges", ["age"], "identity"),
        ("ranges", ["age"], "binary_tree"),
        ("ranges", ["age"], "boost"),
        ("ranges", ["age"], "privelet"),
        ("histogram", ["sex", "size"], "auto"),
        ("marginals", None, "marginals"),
        ("marginals", None, "identity"),
    ],
)
def test_a_release_comes_back_from_its_folder_and_answers_alike(
    make_spec, rows, tmp_path, kind, attributes, method, privacy
):
    spec = make_spec(kind, attributes, privacy, method=method)
    release = publish(spec, rows, out=tmp_path / "release")
    again = load_release(tmp_path / "release")
    queries = {"ranges": ["age in 2..7", "total"], "histogram": ["sex = F and size < 4"], "marginals": ["age = 3"]}
    for text in queries[kind]:
        assert again.query(text) == release.query(text)
    assert again.claim == release.claim
    assert again.method == release.method
    if method != "auto":
        assert release.method == method
    for name, table in release.answers.all_tables.items():
        assert pq.read_table(tmp_path / "release" / name).equals(table)


@pytest.mark.slow
def test_answers_are_as_wrong_as_they_say(make_spec, rows):
    spec = make_spec("ranges", ["age"], method="privelet")
    truth = sum(2 <= age <= 7 for age in rows["age"].to_pylist())
    results = [publish(spec, rows).query("age in 2..7") for _ in range(200)]
    scores = np.array([(one.value - truth) / one.standard_error for one in results])

    def believable(factor):
        """Scores have mean 0 and mean square 1; a squared Laplace score has variance 5 at most."""
        square = abs(((scores * factor) ** 2).mean() - 1)
        return abs(scores.mean() * factor) < Z / math.sqrt(200) and square < Z * math.sqrt(5 / 200)

    assert believable(1)
    assert not believable(1.6)  # standard errors stated 1.6 times too small
    assert np.mean([one.interval[0] <= truth <= one.interval[1] for one in results]) > 0.85


def test_tables_hold_labels_edges_counts_and_intervals(make_spec, rows):
    release = publish(make_spec("marginals", parameters={"tables": [["age", "sex"]]}), rows, rng=generators.seeded(1))
    table = release.answers.all_tables["age-sex.parquet"]
    keys, numbers = ["age", "age_from", "age_below", "sex"], ["count", "standard_error", "low", "high", "adjusted"]
    assert table.column_names == [*keys, *numbers]
    assert table["age"].to_pylist()[:3] == ["0", "0", "1"]
    assert table["sex"].to_pylist()[:3] == ["F", "M", "F"]
    assert table["age_from"].to_pylist()[2] == 1
    values, errors = table["count"].to_numpy(), table["standard_error"].to_numpy()
    assert np.all(table["low"].to_numpy() <= np.maximum(values - errors, 0))
    truth = np.zeros((10, 2))
    for age, sex in zip(rows["age"].to_pylist(), rows["sex"].to_pylist(), strict=True):
        truth[age, "FM".index(sex)] += 1
    assert np.abs(values - truth.ravel()).max() < 20 * errors.max()


def test_a_query_without_a_table_is_refused(make_spec, rows):
    release = publish(make_spec("marginals", parameters={"ways": 1}), rows)
    with pytest.raises(ValueError, match=r"no published table answers .*; the tables are age, sex, size"):
        release.query("age = 3 and sex = F")


def test_a_refusal_of_a_query_names_some_of_many_tables(rows):
    ten = [{"name": f"of_{i}", "kind": "categorical", "values": ["F", "M"], "column": "sex"} for i in range(10)]
    spec = {"attribute": ten, "privacy": {"epsilon": 1}, "release": {"kind": "marginals", "parameters": {"ways": 2}}}
    with pytest.raises(ValueError, match=r"the tables are of_0 x of_1, .*, of_0 x of_8, \.\.\. \(45 in all\)$"):
        publish(spec, rows).query("of_0 = F and of_1 = F and of_2 = F")


def test_a_table_of_too_many_rows_is_refused_before_the_charge(make_spec, rows, ledger, monkeypatch):
    monkeypatch.setattr("dpress.core.maps.sine.LARGEST_TOTAL", 10)
    spec = make_spec("ranges", ["age"], privacy={"rho": 0.5}, method="dst")
    own = Ledger.create(ledger.path.with_name("rho.sqlite"), limit=spec.privacy.loss, unit=spec.privacy.protected)
    with pytest.raises(NotSupported, match="more than 2\\^28 rows"):
        publish(spec, rows, ledger=own)
    assert own.summary().entries == ()


def test_the_charge_comes_before_the_noise_and_stands(make_spec, rows, ledger, tmp_path, monkeypatch):
    spec = make_spec("ranges", ["age"])

    def measure(*_arguments, **_keywords):
        assert spent(ledger) == 1  # already charged when the noise is about to be drawn
        raise RuntimeError("power cut")

    monkeypatch.setattr(MatrixMechanism, "noisy", measure)
    with pytest.raises(RuntimeError):
        publish(spec, rows, ledger=ledger, out=tmp_path / "release")
    assert spent(ledger) == 1
    assert not (tmp_path / "release").exists()
    assert not ledger.summary().entries[0].confirmed


def test_bad_data_costs_nothing(make_spec, ledger, tmp_path):
    bad = pa.table({"age": [1], "sex": ["X"], "size": [1.0]})
    with pytest.raises(SchemaMismatch):
        publish(make_spec(), bad, ledger=ledger, out=tmp_path / "release")
    assert spent(ledger) == 0
    assert not (tmp_path / "release").exists()


def test_a_second_release_beyond_the_limit_is_refused_before_the_data_is_read(make_spec, rows, ledger):
    publish(make_spec(privacy={"epsilon": 0.7}), rows, ledger=ledger)
    with pytest.raises(BudgetExceeded, match=r"limit epsilon = 1; spent epsilon = 0.7"):
        publish(make_spec(privacy={"epsilon": 0.4}), "no/such/file.csv", ledger=ledger)
    assert spent(ledger) == Fraction(7, 10)


def test_a_full_disk_leaves_nothing_and_says_that_the_charge_stands(make_spec, rows, ledger, tmp_path, monkeypatch):
    def full(*_arguments, **_keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.pq, "ParquetWriter", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        publish(make_spec(), rows, ledger=ledger, out=tmp_path / "release")
    assert caught.value.__notes__ == ["the charge of epsilon = 1 stands"]
    assert [path.name for path in tmp_path.iterdir()] == ["budget.sqlite"]
    assert spent(ledger) == 1


def test_a_release_is_never_overwritten(make_spec, rows, ledger, tmp_path):
    (tmp_path / "release").mkdir()
    with pytest.raises(OSError, match="exists already"):
        publish(make_spec(), rows, ledger=ledger, out=tmp_path / "release")
    assert spent(ledger) == 0


def test_a_seeded_release_repeats_itself_and_claims_nothing(make_spec, rows, tmp_path):
    releases = [publish(make_spec(), rows, rng=generators.seeded(7), out=tmp_path / str(i)) for i in range(2)]
    assert np.array_equal(releases[0].kept, releases[1].kept)
    for release in (*releases, load_release(tmp_path / "0")):
        assert not release.private
        assert release.claim.proven is None
    secure = [publish(make_spec(), rows) for _ in range(2)]
    assert not np.array_equal(secure[0].kept, secure[1].kept)
    assert secure[0].claim.proven == PureDP(epsilon=1)


def test_an_unproven_method_runs_only_when_its_risk_is_accepted(make_spec, rows, monkeypatch):
    claim = Claim(published=PureDP(epsilon=1), proven=None, unit=ROW, basis="")
    monkeypatch.setattr(MatrixMechanism, "claim", property(lambda _self: claim))
    with pytest.raises(NotSupported, match="not proven"):
        publish(make_spec(), rows)
    assert publish(make_spec(), rows, allow_unproven=True).charged == PureDP(epsilon=1)


def test_a_person_s_rows_are_bounded_and_the_noise_pays_for_them(make_spec, rows):
    privacy = {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}
    release = publish(make_spec("histogram", ["sex"], privacy), rows)
    assert release.mechanism.noises[0].scale == 2
    result = release.query("total")
    assert abs(result.value - 250) < 30 * result.standard_error  # 125 people keep 2 of their 4 rows
    assert release.claim.unit == Unit(column="uid", rows=2)


def test_data_may_come_from_the_spec(make_spec, rows, tmp_path):
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "spec.toml").write_text(
        '[data]\nsource = "rows.parquet"\n[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [0, 9]\n'
        '[privacy]\nepsilon = 1\n[release]\nkind = "ranges"\n'
    )
    from dpress import load_spec

    assert publish(load_spec(tmp_path / "spec.toml")).query("total").value == pytest.approx(500, abs=200)
    with pytest.raises(ValueError, match="no data"):
        publish(make_spec())


def test_a_new_ledger_is_made_only_when_there_is_something_to_charge(make_spec, rows, tmp_path):
    path = tmp_path / "new.sqlite"
    with pytest.raises(SchemaMismatch):
        publish(make_spec(), pa.table({"age": [1], "sex": ["X"], "size": [1.0]}), ledger=path)
    assert not path.exists()
    publish(make_spec(privacy={"epsilon": 0.3}), rows, ledger=path)
    summary = Ledger.open(path).summary()
    assert (summary.limit, summary.spent) == (PureDP(epsilon=0.3), {"epsilon": Fraction(3, 10)})
    with pytest.raises(BudgetExceeded):
        publish(make_spec(privacy={"epsilon": 0.3}), rows, ledger=path)


def test_a_folder_that_cannot_be_written_costs_nothing(make_spec, rows, ledger, tmp_path, monkeypatch):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError, match="exists already"):
        publish(make_spec(), rows, ledger=ledger, out=tmp_path / "dangling")

    def denied(**_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(folder.tempfile, "mkdtemp", denied)
    with pytest.raises(OSError, match=r"cannot write in .*: Permission denied; choose another folder"):
        publish(make_spec(), rows, ledger=ledger, out=tmp_path / "release")
    assert spent(ledger) == 0


def test_what_the_caller_changes_meanwhile_does_not_reach_the_release(make_spec, rows):
    spec = make_spec("marginals", parameters={"tables": [["age"], ["sex"]], "shares": ["1/2", "1/2"]})
    release = publish(spec, rows, progress=lambda _rows: spec.release.parameters["shares"].reverse())
    spec.release.parameters["shares"][0] = "1/100"
    assert release.design.specification["release"]["parameters"]["shares"] == ["1/2", "1/2"]
    assert [noise.scale for noise in release.mechanism.noises] == [2, 2]


def test_a_release_shows_itself_in_one_line(make_spec, rows):
    assert (
        repr(publish(make_spec("ranges", ["age"], method="boost"), rows))
        == "Release(ranges of age; boost; epsilon = 1)"
    )
