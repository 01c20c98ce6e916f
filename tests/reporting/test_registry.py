"""The record for the registry of deployments: what the release knows, marked gaps, and YAML that others read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kinds.conftest import AGE, SEX, claiming, collect, make

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.reporting.registry import TODO, as_yaml, record, write_registry

HARD = ["yes", "1e-05", "a: b # c", '"\\', "\x07 \x7f \x85 \u2028 \ufeff", "two\nlines", "ε 🗺", "- x", "", "\ud800"]


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, f"{place}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, place)
    else:
        yield place, value


def test_what_is_written_is_read_again_whatever_stands_in_it() -> None:
    fields = {"a": {"texts": HARD, "loss": {"delta": 1e-05, "epsilon": 1e16, "rho": 0.5}, "empty": {}}, "tier": 3}
    for index, text in enumerate(HARD[:-1]):
        fields[f"hard_{index}"] = text
    assert yaml.safe_load(as_yaml(fields)) == fields


@pytest.mark.parametrize(
    ("loss", "variant"),
    [({"epsilon": 0.7}, "Pure DP"), ({"rho": 0.1}, "Zero-concentrated DP")],
)
def test_a_record_states_the_proven_loss_and_marks_what_only_a_person_knows(
    loss: dict[str, float], variant: str
) -> None:
    release = make("histogram", [AGE], loss)
    found = yaml.safe_load(as_yaml(record(release)))["deployment"]
    assert found["dp_variant"]["variant_name"] == variant
    (name, written), (_, asked) = *found["privacy_loss"]["privacy_parameters"].items(), *loss.items()
    assert name in loss
    assert asked <= written < asked * (1 + 1e-9)  # rounded up
    assert found["deployment_model"]["model_name"] == "Central"
    assert release.method in found["implementation"]["mechanisms"]
    assert release.claim.basis[1:] in found["accounting"]["composition"]
    todo = {place for place, value in leaves(found) if TODO in str(value)}
    assert {".basic.intended_use", ".basic.data_curators.data_curator_name", ".deployment_model.actors"} <= todo
    assert not {".dp_variant.variant_name", ".privacy_loss.privacy_unit"} & todo


def test_another_claim_gives_another_record() -> None:
    release = claiming(make("histogram", [AGE]), proven=ApproxDP(epsilon=2, delta=1e-6))
    loss = record(release)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == pytest.approx({"epsilon": 2.0, "delta": 1e-6})


def test_nothing_unproven_is_a_parameter() -> None:
    release = claiming(make("histogram", [AGE]), proven=None, published=PureDP(epsilon=1))
    found = record(release)["deployment"]
    assert found["privacy_loss"]["privacy_parameters"] == {}
    assert found["dp_variant"]["variant_name"].startswith(TODO)
    assert "Published for the method: epsilon = 1" in found["privacy_loss"]["privacy_parameters_details"]


def test_devices_are_the_local_model() -> None:
    found = record(collect([SEX]))["deployment"]
    assert found["deployment_model"]["model_name"] == "Local"
    assert found["privacy_loss"]["privacy_unit"] == "Report-level"
    assert "The number of reports." in found["dp_variant"]["unprotected_quantities"]


def test_a_seeded_release_has_no_record_and_a_record_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="a test is no deployment"):
        record(make("histogram", [AGE], seed=3))
    place = write_registry(make("histogram", [AGE]), tmp_path / "record.yaml")
    before = place.read_text(encoding="utf-8")
    with pytest.raises(OSError, match="never overwritten"):
        write_registry(make("histogram", [AGE]), place)
    assert place.read_text(encoding="utf-8") == before
