"""Regions and epsilons of people's own, from a table and on a device, to the map that the collector makes of them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.spatial.towns import USERS, places, spec, table

from dpress.cli.main import main
from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded, NotSupported, SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.device_ledger import DeviceLedger
from dpress.release.devices.device import Account, device, intake
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

PSDA = spec("psda", height=2, region_levels=[0, 1], epsilons=["1/2", "2"])
COLUMNS = {"region_level": "my_level", "epsilon": "my_epsilon"}
OUTSIDE = 100  # rows that the box leaves out


def people(**more: list[float]) -> pa.Table:
    """Every other person states a quarter and 1/2, the rest the box and 2; some are outside the box."""
    points = places()
    points[0, :OUTSIDE] = -1.0
    odd = np.arange(USERS) % 2
    own = {"my_level": odd.astype(float), "my_epsilon": np.where(odd == 1, 0.5, 2.0)} | more
    found = table(points)
    for name, values in own.items():
        found = found.append_column(name, pa.array(values))
    return found


def test_columns_say_what_every_report_states(tmp_path: Path) -> None:
    rows = perturb(PSDA, people(), out=tmp_path / "r.parquet", stated=COLUMNS, allow_unproven=True, rng=rng.seeded(1))
    found = estimate(PSDA, tmp_path / "r.parquet", allow_unproven=True)
    own = found.mechanism.estimator.oracle  # type: ignore[attr-defined]  # a collection of psda
    (tally,) = found.mechanism.split_tally(found.kept[: sum(found.mechanism.sizes)])  # type: ignore[attr-defined]
    chosen = tally[:-1].reshape(own.starts[-1], 2, own.pcep.rows + 1)[:, :, -1]
    assert rows == found.users
    assert chosen[0, 0] == 0
    assert chosen[1:, 1].sum() == 0
    assert abs(chosen[0, 1] - chosen[1:, 0].sum()) <= 1  # those who were left out are counted nowhere
    assert found.claim.proven is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"my_epsilon": [0.75] * USERS}, "epsilon must be one of 0.5, 2"),
        ({"my_epsilon": [float("nan")] * USERS}, "a row has no number in my_level or my_epsilon"),
    ],
)
def test_a_column_that_does_not_fit_stops_the_simulation(
    tmp_path: Path, wrong: dict[str, list[float]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        perturb(PSDA, people(**wrong), out=tmp_path / "r.parquet", stated=COLUMNS, allow_unproven=True)
    with pytest.raises(SchemaMismatch, match="no column 'nowhere'"):
        perturb(PSDA, people(), out=tmp_path / "r", stated={"epsilon": "nowhere"}, allow_unproven=True)
    with pytest.raises(NotSupported, match="state nothing of their own"):
        perturb(spec("gtr", height=2), people(), out=tmp_path / "r", stated=COLUMNS)
    assert not [*tmp_path.iterdir()]


def test_a_device_states_its_own_and_is_charged_that_epsilon(tmp_path: Path) -> None:
    sender, door = device(PSDA, allow_unproven=True), intake(PSDA)
    account = Account(ledger=DeviceLedger(path=tmp_path / "own.jsonl"), limit=PureDP(epsilon=1))
    codes, stated = sender.codes({"lon": 3.0, "lat": 2.0}), {"region_level": 1, "epsilon": 0.5}
    for seed in (4, 5):
        door.accept(sender.answer(codes, rng=rng.seeded(seed), account=account, stated=stated))
    with pytest.raises(BudgetExceeded):
        sender.answer(codes, rng=rng.seeded(3), account=account, stated=stated)
    with pytest.raises(ValueError, match="epsilon must be one of"):
        sender.answer(codes, rng=rng.seeded(3), stated={"epsilon": 1})
    other = device(spec("gtr", height=2))
    with pytest.raises(NotSupported, match="state nothing"):
        other.answer(codes, rng=rng.seeded(3), stated=stated)


def test_the_command_takes_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    (tmp_path / "map.toml").write_text(
        '[[attribute]]\nname = "place"\nkind = "location"\ncolumns = ["lon", "lat"]\nbounds = [[0, 8], [0, 4]]\n'
        '[privacy]\nmodel = "local"\nepsilon = 2.0\n[release]\nkind = "spatial"\nmethod = "psda"\n'
        "parameters = { users = 4000, height = 2, region_levels = [0, 1], epsilons = [0.5, 2] }\n",
        encoding="utf-8",
    )
    command = ["perturb", str(tmp_path / "map.toml"), "--data", str(tmp_path / "people.parquet"), "--allow-unproven"]
    stated = ["--stated", "region_level=my_level", "--stated", "epsilon=my_epsilon"]
    main([*command, *stated, "--out", str(tmp_path / "r.parquet"), "--quiet"])
    assert (tmp_path / "r.parquet").is_file()
    with pytest.raises(SystemExit):
        main([*command, "--stated", "epsilon", "--out", str(tmp_path / "s.parquet")])
    assert "--stated must be CHOICE=COLUMN" in capsys.readouterr().err
