"""The joint distribution of a table: what is measured, how wide its intervals are, and what it is read back as."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.inference.joint.class_model import class_model
from dpress.inference.joint.pair_tables import LevelNoise, NoisyTable, Tables
from dpress.kinds.joint.central import measured
from dpress.kinds.joint.fitted import ADDED
from dpress.kinds.joint.plan_text import text
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.load import load_release
from dpress.query.made_records import write_records
from dpress.query.measured_joint import joint_of_tables, measured_joint
from dpress.release.curator.publish import publish
from dpress.release.plan.linear_error import mean_variance
from dpress.release.plan.plan import plan

SIZES = (2, 3, 2, 4)
THREE = "a0 = 0 and a1 = 1 and a2 = 1"


def spec(*sizes, privacy=None, kind="joint", method="auto", **parameters):
    attributes = [{"name": f"a{axis}", "kind": "integer", "bounds": [0, size - 1]} for axis, size in enumerate(sizes)]
    privacy = privacy or {"epsilon": 1, "delta": 1e-6}
    release = {"kind": kind, "method": method, "parameters": parameters}
    return from_dict({"attribute": attributes, "privacy": privacy, "release": release})


def chain(size: int = 4000) -> dict[str, np.ndarray]:
    """Return rows in which every attribute depends on the one before alone: pairs say all."""
    draw = rng.seeded(3)
    columns = [_words(draw, size) % SIZES[0]]
    for after in SIZES[1:]:
        columns.append(np.where(_words(draw, size) % 5 < 3, columns[-1] % after, _words(draw, size) % after))
    return {f"a{axis}": one for axis, one in enumerate(columns)}


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("privacy", [{"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}])
def test_the_chosen_shares_cost_the_budget_and_err_less_than_equal_ones(order, privacy):
    planned = plan(spec(*SIZES, privacy=privacy, order=order))
    own, workload = planned.chosen.mechanism, planned.choice.workload
    assert sum(own.shares) == 1
    assert own.claim.proven == own.loss
    equal = MatrixMechanism(strategy=Marginals(SIZES, workload.tables), loss=own.loss, unit=own.unit)
    assert planned.choice.lower_bound <= planned.chosen.predicted_error <= mean_variance(equal, workload)
    assert planned.chosen.predicted_error == pytest.approx(mean_variance(own, workload))


def test_a_plan_compares_groups_of_tables_by_the_error_of_all_pairs_and_takes_the_least():
    planned = plan(spec(*SIZES))
    errors = {measured(one): one.predicted_error for one in planned.candidates}
    assert set(errors) == {
        "pairs",
        "one-way tables and pairs",
        "one-way tables, pairs and triples",
        "pairs and all cells",
    }
    assert planned.chosen.predicted_error == min(errors.values())
    for one in planned.candidates:
        assert one.predicted_error == pytest.approx(mean_variance(one.mechanism, planned.choice.workload))
        assert one.mechanism.claim.proven == one.mechanism.loss
    assert [row[-1] for row in text(planned).candidates.rows] == [*errors]
    assert errors["pairs and all cells"] < errors["pairs"]  # 48 cells are few
    wide = [measured(one) for one in plan(spec(16, 16, 16, 17)).candidates]
    assert sorted(wide) == ["one-way tables and pairs", "pairs"]


def test_latent_classes_have_all_tables_of_pairs_where_noise_is_small():
    classes = [np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])]
    classes.append(np.array([[0.7, 0.3], [0.2, 0.8]]))
    truth = np.einsum("c,ci,cj,ck->ijk", [0.4, 0.6], *classes)
    pairs = {(0, 1): truth.sum(axis=2), (0, 2): truth.sum(axis=1), (1, 2): truth.sum(axis=0)}
    noisy = tuple(NoisyTable(axes=axes, shares=own, noise=LevelNoise(each=1e-10)) for axes, own in pairs.items())
    found = class_model(Tables(shape=truth.shape, noisy=noisy), rng=rng.seeded(1), most=2)
    for axes, own in pairs.items():
        assert np.abs(found.marginal(axes) - own).sum() / 2 < 0.002
    assert np.abs(found.marginal((0, 1, 2)).sum() - 1) < 1e-9
    product = np.einsum("i,j->ij", pairs[0, 1].sum(axis=1), pairs[0, 1].sum(axis=0))
    assert np.abs(product - pairs[0, 1]).sum() / 2 > 0.1  # the control: independence is far off


def test_a_wide_joint_has_no_dependence_that_no_table_shows():
    sizes = (20,) * 4
    single = tuple(NoisyTable(axes=(axis,), shares=np.full(20, 0.05), noise=LevelNoise(each=1e-6)) for axis in range(4))
    found = joint_of_tables(Tables(shape=sizes, noisy=single), 1)
    assert not found.hidden
    assert np.allclose(found.marginal((0, 3)), 0.05**2)


def test_a_release_answers_what_no_table_holds_the_same_after_loading(tmp_path):
    release = publish(spec(*SIZES, order=2), pa.table(chain()), out=tmp_path / "r", rng=rng.seeded(5))
    again = load_release(tmp_path / "r")
    exact, fitted = release.query("a0 = 0 and a1 = 1"), release.query(THREE)
    assert exact.note is None
    assert ADDED in fitted.note
    assert again.query(THREE) == fitted
    assert again.query("a0 = 0 and a1 = 1") == exact
    assert release.share("a0 = 0", where="a1 = 1 and a2 = 1").standard_error > 0
    assert release.answers.fitted.marginal((0, 1, 2, 3)).sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["joint", "marginals", "histogram"])
def test_records_of_a_release_have_its_tables(tmp_path, kind):
    asked = spec(2, 3, kind=kind)
    rows = {"a0": chain()["a0"], "a1": chain()["a1"]}
    release = publish(asked, pa.table(rows), rng=rng.seeded(5))
    found = pq.read_table(write_records(release, 20_000, tmp_path / "r.parquet"))
    assert found.column_names == ["a0", "a1"]
    share = np.mean((found["a0"].to_numpy().astype(int) == 0) & (found["a1"].to_numpy().astype(int) == 0))
    truth = np.mean((rows["a0"] == 0) & (rows["a1"] == 0))
    assert abs(share - truth) < 6 * 0.5 / 20_000**0.5 + 0.01  # chance of a false alarm below 1e-6
    with pytest.raises(OSError, match="never overwritten"):
        write_records(release, 5, tmp_path / "r.parquet")


def test_records_of_tables_measured_by_residuals_have_their_pairs(tmp_path):
    columns = chain()
    asked = spec(*SIZES, kind="marginals", method="residual_marginals", privacy={"rho": 10})
    release = publish(asked, pa.table(columns), rng=rng.seeded(5))
    found = pq.read_table(write_records(release, 20_000, tmp_path / "r.parquet"))
    pair = [np.mean((own["a0"].to_numpy() == 0) & (own["a1"].to_numpy() == 0)) for own in (found, pa.table(columns))]
    assert abs(pair[0] - pair[1]) < 6 * 0.5 / 20_000**0.5 + 0.01  # chance of a false alarm below 1e-6


def test_records_are_written_as_csv_too_and_as_nothing_else(tmp_path):
    release = publish(spec(2, 3), pa.table({"a0": [0, 1], "a1": [0, 2]}), rng=rng.seeded(5))
    text = write_records(release, 5, tmp_path / "r.csv").read_text()
    assert text.splitlines()[0] == '"a0","a1"'
    assert len(text.splitlines()) == 6
    with pytest.raises(ValueError, match=r"ends in \.parquet, \.csv, \.dta, \.sav, \.xlsx"):
        write_records(release, 5, tmp_path / "r.txt")


def test_a_release_without_a_joint_makes_no_records(tmp_path):
    asked = from_dict(
        {
            "attribute": [{"name": "a0", "kind": "integer", "bounds": [0, 7]}],
            "privacy": {"epsilon": 1.0},
            "release": {"kind": "queries", "parameters": {"queries": ["a0 >= 4"]}},
        }
    )
    release = publish(asked, pa.table({"a0": [1, 2]}), rng=rng.seeded(5))
    with pytest.raises(NotSupported, match="no joint distribution of all its attributes"):
        write_records(release, 5, tmp_path / "r.parquet")


def test_a_joint_needs_every_attribute_measured():
    loss = PureDP(epsilon=1)
    some = MatrixMechanism(strategy=Marginals((2, 2, 2), ((0, 1),)), loss=loss)
    assert measured_joint(some, np.zeros(4, np.int64)) is None


def _words(draw, size):
    return (draw.words(size) >> np.uint64(33)).astype(np.int64)
