"""Planning ends soon whatever is asked, or refuses at once and says by which bound: steps are counted, not seconds."""

import pytest
from tests.formats import limits
from tests.formats.mutations import Dice

from dpress import SchemaMismatch, catalog, load_spec, plan
from dpress.core.basics.parameters import listed
from dpress.data.specification.spec import from_dict

STEPS = 20_000_000  # calls of functions, of which a second has a few million
MEMORY = 3 << 29  # bytes by which all plans together may raise the most that the process ever held
FEW, MANY = 60, 900
CELLS = (1, 2, 3, 10, 100, 1000, 4096, 10**5, 10**6, 10**8, 10**9, 10**12, 2**53 - 1)
NUMBERS = (1, 2, 3, 10, 100, 1000, 10**5, 10**7, 10**12, 2**53, 2**63)
KINDS = ("ranges", "histogram", "marginals", "joint", "spatial", "microdata")
LOSSES = ({"epsilon": 1.0}, {"epsilon": 1e-9}, {"epsilon": 1000.0}, {"rho": 0.5}, {"epsilon": 1.0, "delta": 1e-6})
PARAMETERS = sorted(
    {one.name for card in catalog.cards().values() for one in listed(card.parameters)}
    | {one.name for room in catalog.kinds().values() for own in room.parameters.values() for one in listed(own)}
    - {"seconds"}  # states itself how long a plan takes
)


@pytest.fixture(autouse=True)
def _little_memory():
    with limits.memory(MEMORY):
        yield


def planned(written):
    """Plan within the budget and return the refusal, or None."""
    try:
        with limits.steps(STEPS, written):
            _ = plan(from_dict(written)).design
    except ValueError as error:
        return str(error)
    return None


def attribute(name, dice):
    cells = dice.of(CELLS if dice.below(2) else CELLS[:5])
    return dice.of(
        [
            {"name": name, "kind": "integer", "bounds": [0, cells - 1]},
            {"name": name, "kind": "numeric", "bounds": [0.0, 1.0], "bins": cells},
            {"name": name, "kind": "ordinal", "values": [f"v{code}" for code in range(min(cells, 3000))]},
        ]
    )


def value(name, dice):
    if name == "queries":
        return dice.of(["prefixes", "all", ["a0 in 0..1"] * 3000])
    return dice.of([*NUMBERS, *NUMBERS, 0.5, "best", "representative", [dice.of(NUMBERS)] * 1000, [3, 5]])


def specification(dice):
    """Return a specification of any kind, with sizes and parameters that nobody needs."""
    kind = dice.of(KINDS)
    attributes = [attribute(f"a{number}", dice) for number in range(dice.of([1, 1, 2, 3, 10, 60]))]
    if kind == "spatial":
        attributes = [{"name": "p", "kind": "location", "columns": ["x", "y"], "bounds": [[0.0, 1.0], [0.0, 1.0]]}]
    local = kind == "joint" or (kind != "microdata" and dice.below(2))
    privacy = {"model": "local", "epsilon": dice.of([1e-6, 1.0, 4.0, 900.0])} if local else dice.of(LOSSES)
    parameters = {name: value(name, dice) for name in (dice.of(PARAMETERS) for _ in range(dice.below(4)))}
    method = dice.of(["auto", "auto", dice.of(sorted(catalog.cards()))])
    release = {"kind": kind, "method": method, "parameters": parameters}
    return {"attribute": attributes, "privacy": privacy, "release": release}


def one(kind, cells, privacy=LOSSES[0], method="auto", **parameters):
    """Return a specification of one integer."""
    attributes = [{"name": "a", "kind": "integer", "bounds": [0, cells - 1]}]
    release = {"kind": kind, "method": method, "parameters": parameters}
    return {"attribute": attributes, "privacy": privacy, "release": release}


@pytest.mark.parametrize(
    ("written", "bound"),
    [
        (one("ranges", 10**8, length=10**6), "99,000,001 ranges are too many to average one by one, at most 524,288"),
        (one("ranges", 2**53 - 1, length=10**12), "at most 524,288"),
        (one("ranges", 10**9, queries="prefixes"), "1,000,000,000 ranges"),
        (one("microdata", 100, method="dp_prototypes", rounds=10**7), "rounds: expected at most 1000, got 10000000"),
        (one("microdata", 100, method="dp_prototypes", clusters=10**6, rounds=10**5), "at most 1000, got 100000"),
        (one("microdata", 100, method="dp_prototypes", clusters=10**6), "at most"),
        (one("microdata", 10**9), "at most 4,194,304 cells, got 1,000,000,000"),
        (one("microdata", 10**5), "at most 16,777,216; use fewer cells, first for a, which has 100,000"),
        (one("microdata", 10, weights=[1] * 5000), "one for every attribute"),
    ],
)
def test_what_would_take_minutes_is_refused_with_its_bound(written, bound):
    refusal = planned(written)
    assert refusal is not None
    assert bound in refusal
    assert len(refusal) < 400


def test_a_table_of_many_attributes_is_planned():
    bits = [{"name": f"a{number}", "kind": "integer", "bounds": [0, int(number < 20)]} for number in range(60)]
    written = {"attribute": bits, "privacy": LOSSES[0], "release": {"kind": "histogram"}}
    assert planned(written) is None


def check_plans(seed, number):
    dice = Dice(seed)
    refusals = [planned(specification(dice)) for _ in range(number)]
    assert {True, False} == {one is None for one in refusals}
    assert max(len(one) for one in refusals if one is not None) < 2000


def test_any_specification_is_planned_or_refused():
    check_plans(2, FEW)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 12))
def test_many_specifications_are_planned_or_refused(seed):
    check_plans(seed, MANY // 9)


@pytest.mark.parametrize("digits", [20, 400, 4000, 5000])
@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    "line",
    [
        "[privacy]\nepsilon = {}",
        "[privacy]\nrows_per_unit = {}",
        "[release.parameters]\nbranching = {}",
        "[release.parameters]\nshares = [1, {}]",
        "[[attribute]]\nbins = {}",
    ],
)
def test_an_integer_of_many_digits_is_refused_in_one_short_line(line, sign, digits):
    with pytest.raises(SchemaMismatch, match=r"expected (an integer|one) below 2\^63") as caught:
        load_spec(line.format(sign + "1" * digits) + "\n")
    assert len(str(caught.value)) < 160
