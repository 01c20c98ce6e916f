"""psda with regions and epsilons of the users' own: what is stated is reported and kept, and what is not is refused."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.spatial.documents.psda import Psda
from dpress.mechanisms.spatial.safe_regions import NOT_ANY, SafeRegions

OWN = SafeRegions(grid=Grid(4), loss=PureDP(epsilon=2), region_levels=(0, 1), epsilons=("1/2", "2"))
CELLS = np.repeat(np.arange(16, dtype=np.int32), 250)
Z = 5.0


def groups(payloads: np.ndarray) -> np.ndarray:
    """The number of reports by region and epsilon."""
    own = OWN.pcep
    table = own.tally(payloads).reshape(OWN.starts[-1], len(own.levels), own.rows + 1)
    return np.asarray(table[:, :, -1])


@pytest.mark.parametrize(("level", "place"), [(0, 0), (1, 1)])
def test_a_report_names_what_its_user_states(level: int, place: int) -> None:
    stated = {"region_level": level, "epsilon": [0.5, 2][place]}
    found = groups(OWN.perturb_stated(CELLS, stated, rng=rng.seeded(1)))
    wanted = np.zeros_like(found)
    wanted[[0] if level == 0 else [1, 2, 3, 4], place] = len(CELLS) // (1 if level == 0 else 4)
    assert (found == wanted).all()
    assert (found != groups(OWN.perturb(CELLS, rng=rng.seeded(1)))).any()


def test_what_is_left_out_is_drawn() -> None:
    found = groups(OWN.perturb_stated(CELLS, {"epsilon": 0.5}, rng=rng.seeded(2)))
    assert found[:, 1].sum() == 0
    assert 0.4 * len(CELLS) < found[0, 0] < 0.6 * len(CELLS)
    assert groups(OWN.perturb_stated(CELLS, {"region_level": 1}, rng=rng.seeded(3)))[0].sum() == 0


def test_signs_keep_the_epsilon_that_is_stated() -> None:
    """The share of signs that are the value's: P = e^epsilon / (e^epsilon + 1) of the user's own epsilon."""
    cells, signs = np.zeros(40_000, dtype=np.int32), OWN.pcep.signs[:, 0]
    kept = {}
    for epsilon in (0.5, 2):
        payloads = OWN.perturb_stated(cells, {"region_level": 0, "epsilon": epsilon}, rng=rng.seeded(4))
        numbers = payloads[:, 0].astype(np.int64) if OWN.pcep.rows < 129 else payloads[:, :2].copy().view("<u2")[:, 0]
        kept[epsilon] = float((((numbers & 1) == 1) == (signs[numbers >> 1] < 0)).mean())
        chance = float(np.exp(epsilon) / (np.exp(epsilon) + 1))
        assert abs(kept[epsilon] - chance) < Z * np.sqrt(chance * (1 - chance) / len(cells))
    assert kept[2] - kept[0.5] > 0.2


def test_counts_are_unbiased_where_choices_depend_on_the_place() -> None:
    """The west states the root and 2, the east its quarter and 1/2; the mean of 200 collections is the truth."""
    own, source, found = Psda(oracle=OWN), rng.seeded(6), []
    west, truth = CELLS < 8, np.bincount(CELLS, minlength=16)
    choices = ((west, {"region_level": 0, "epsilon": 2}), (~west, {"region_level": 1, "epsilon": 0.5}))
    for _ in range(200):
        tallies = [OWN.tally(OWN.perturb_stated(CELLS[who], stated, rng=source)) for who, stated in choices]
        measured = own.measurement([np.append(sum(tallies), len(CELLS))])
        found.append(own.decoded(measured, len(CELLS)).counts)
    error = np.std(found, axis=0, ddof=1) / np.sqrt(200)
    apart = np.abs(np.mean(found, axis=0) - Grid(4).image(truth.astype(float))) / error
    assert apart.max() < Z
    spread = own.decoded(measured, len(CELLS)).cell_variances()
    assert (np.abs(np.var(found, axis=0, ddof=1) / spread - 1) < 0.6).all()
    assert Grid(4).flat(spread)[:8].mean() < Grid(4).flat(spread)[8:].mean() / 2  # the larger epsilon errs less


def test_the_promise_is_the_users_own() -> None:
    root, quarter = (OWN.claim_stated({"region_level": level, "epsilon": 0.5}) for level in (0, 1))
    assert root.proven == PureDP(epsilon="1/2") == quarter.published
    assert quarter.proven is None
    assert NOT_ANY in quarter.basis
    assert OWN.claim_stated({}).published == PureDP(epsilon=2)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"epsilon": 0.75}, r"epsilon must be one of 0.5, 2; what was stated is not"),
        ({"region_level": 2}, r"region_level must be one of 0, 1; what was stated is not"),
        ({"region_level": "west"}, r"region_level must be one of"),
        ({"region": 1}, r"users of psda state region_level and epsilon, got region"),
    ],
)
def test_what_is_not_of_the_lists_is_refused(stated: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OWN.perturb_stated(CELLS, stated, rng=rng.seeded(1))


def test_users_of_other_methods_state_nothing() -> None:
    krr = Krr(size=3, loss=PureDP(epsilon=1))
    with pytest.raises(ValueError, match="state nothing of their own"):
        krr.claim_stated({})
    with pytest.raises(ValueError, match="state nothing of their own"):
        krr.perturb_stated(CELLS[:3], {}, rng=rng.seeded(1))
