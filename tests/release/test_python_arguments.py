"""What is handed to the functions of Python by mistake is refused by one clear line."""

import pyarrow as pa
import pytest

from dpress import Ledger, PureDP, Spec, Unit, check, device, load_spec, perturb, plan, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported

PLAIN = {
    "attribute": [{"name": "age", "kind": "integer", "bounds": [0, 9]}],
    "privacy": {"epsilon": 1.0},
    "release": {"kind": "histogram"},
}


def test_a_spec_may_be_a_file_a_text_or_plain_objects_and_nothing_else(tmp_path):
    text = tmp_path / "spec.toml"
    text.write_text('attribute = [{name = "age", kind = "integer", bounds = [0, 9]}]\n[privacy]\nepsilon = 1.0\n'
                    '[release]\nkind = "histogram"\n')  # fmt: skip
    forms, rows = (PLAIN, load_spec(PLAIN), text, str(text), text.read_text()), pa.table({"age": [1, 2, 3]})
    assert len({plan(one).design.id for one in forms}) == 1
    assert len({publish(one, rows).design.id for one in forms}) == 1
    assert all(check(one, rows) == check(PLAIN, rows) for one in forms)
    for call in (plan, publish, check, lambda one: perturb(one, out=tmp_path / "reports.parquet")):
        for asked in (None, 3, ["a"]):
            with pytest.raises(ValueError, match=rf"expected a Spec.*dpress\.load_spec.*, got {type(asked).__name__}"):
                call(asked)
        with pytest.raises(OSError, match="nowhere"):
            call("nowhere.toml")


@pytest.mark.parametrize("strange", [object(), 1, rng.seeded])
def test_a_generator_of_another_library_is_refused_before_anything_is_charged(strange, tmp_path):
    place = tmp_path / "ledger.sqlite"
    with pytest.raises(ValueError, match=r"rng must be a generator of dpress\.core\.basics\.rng, as .*, got "):
        publish(PLAIN, pa.table({"age": [1]}), ledger=place, rng=strange)
    assert not place.exists()
    local = PLAIN | {"privacy": {"model": "local", "epsilon": 1.0}}
    with pytest.raises(ValueError, match="rng must be a generator"):
        perturb(local, pa.table({"age": [1]}), out=tmp_path / "reports.parquet", rng=strange)


def test_a_device_is_asked_by_a_design_and_for_codes():
    local = load_spec(PLAIN | {"privacy": {"model": "local", "epsilon": 1.0}})
    for asked in ("app.json", PLAIN):
        with pytest.raises(ValueError, match=r"expected a design, as dpress\.load_design\('app\.json'\) reads it"):
            device(asked)
    with pytest.raises(ValueError, match=r"expected the codes of the values, as device\.codes"):
        device(local).answer({"age": 3}, rng=rng.secure())


def test_the_parts_of_a_spec_are_objects():
    with pytest.raises(ValueError, match=r"dpress\.load_spec\(\.\.\.\) reads plain ones"):
        Spec(**PLAIN)
    read = load_spec(PLAIN)
    assert Spec(attribute=read.attribute, privacy=read.privacy, release=read.release) == read


def test_a_ledger_s_limit_is_a_loss_and_its_unit_a_unit(tmp_path):
    place = tmp_path / "ledger.sqlite"
    with pytest.raises(ValueError, match=r"limit must be a privacy loss such as PureDP\(epsilon=1\), got limit=1\.0"):
        Ledger.create(place, limit=1.0, unit=Unit())
    with pytest.raises(ValueError, match=r"unit must be a Unit such as .*, got unit='row'"):
        Ledger.create(place, limit=PureDP(epsilon=1), unit="row")
    assert not place.exists()


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ({"kind": "histgram"}, r"\$\.release\.kind: expected one of .*, got 'histgram'; did you mean 'histogram'"),
        ({"kind": "ranges", "method": "privlet"}, "there is no method 'privlet'; did you mean 'privelet'"),
        ({"kind": "ranges", "parameters": {"lenght": 3}}, "unknown parameter 'lenght' .*; did you mean 'length'"),
        ({"kind": "joint"}, 'a joint distribution needs two attributes or more; use kind = "histogram"'),
    ],
)
def test_a_misspelt_word_of_a_spec_has_a_right_form(release, message):
    with pytest.raises((NotSupported, ValueError), match=message):
        plan(load_spec(PLAIN | {"release": release}))
