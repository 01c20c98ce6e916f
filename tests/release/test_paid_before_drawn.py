"""The charge lies between `prepare` and `draw`, of every curator's method: what is drawn earlier was not paid."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.release.stored import NAMES, design_of, rows_of

from dpress import catalog, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.data import table
from dpress.data.specification.spec import from_dict
from dpress.document.design import Design
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.curator.private_cap import private_cap

TABLES = {design.method: name for name in reversed(NAMES) if not (design := design_of(name)).local}
WITHIN = {"approximate_quantiles", "weighted_rounds", "weighted_threshold"}  # of `group_quantiles`, `discovered_groups`
OF_CAPS = {"exponential"}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done, in order: words drawn of any generator, charges, and what the ledger was told of them.

    Which rows of a person are read is drawn, too, when they are; that is no noise, and nothing shows it.
    """
    done: list[str] = []
    row_sample = table.row_sample

    def unseen(*arguments: Any, **options: Any) -> Any:
        before = [*done]
        sample = row_sample(*arguments, **options)
        done[:] = before
        return sample

    monkeypatch.setattr(table, "row_sample", unseen)

    def noted(owner: type, name: str, step: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            done.append(step)
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, wrapped)

    noted(Generator, "fill", "drawn")
    noted(Ledger, "reserve", "charged")
    noted(Ledger, "spend", "told")
    return done


def published(design: Design, folder: Path) -> None:
    publish(design, rows_of(design), ledger=folder / "b.sqlite", allow_unproven=True, rng=rng.seeded(1))


def paid_first(done: list[str]) -> bool:
    """Whether all was drawn after one charge, and something was before the ledger was told of it."""
    charged, told = done.index("charged"), done.index("told")
    return done.count("charged") == done.count("told") == 1 and "drawn" not in done[:charged] and charged + 1 < told


def test_every_method_of_a_curator_is_here() -> None:
    assert {card.name for card in catalog.cards().values() if card.model == "central"} == {*TABLES} | WITHIN | OF_CAPS


@pytest.mark.parametrize("name", [*TABLES.values(), "statistics_weighted", "statistics_persons"])
def test_a_method_draws_what_was_charged(name: str, steps: list[str], tmp_path: Path) -> None:
    published(design_of(name), tmp_path)
    assert paid_first(steps)


def test_a_cap_is_drawn_after_its_charge(steps: list[str], tmp_path: Path) -> None:
    spec = from_dict(design_of("statistics_persons").specification)
    ledger = Ledger.create(tmp_path / "b.sqlite", limit=spec.privacy.loss, unit=spec.privacy.protected)
    private_cap(spec, rows_of(design_of("statistics_persons")), epsilon="1/8", ledger=ledger, rng=rng.seeded(1))
    assert paid_first(steps)


@pytest.mark.parametrize("name", ["histogram", "census_adaptive_grid"])
def test_a_mechanism_that_draws_before_the_charge_is_found(
    name: str, steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism: Any = {"histogram": MatrixMechanism}.get(name, catalog.find("adaptive_grid"))
    prepare = mechanism.prepare

    def early(self: Any, rows: Any) -> Any:
        drawn = prepare(self, rows)(rng.secure())
        return lambda _: drawn

    monkeypatch.setattr(mechanism, "prepare", early)
    published(design_of(name), tmp_path)
    assert not paid_first(steps)


def test_a_mechanism_that_refuses_the_rows_charges_nothing(
    steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_self: Any, _rows: Any) -> Any:
        raise NotSupported("too few rows")

    monkeypatch.setattr(MatrixMechanism, "prepare", refused)
    with pytest.raises(NotSupported, match=r"^too few rows$") as stop:
        published(design_of("histogram"), tmp_path)
    assert (steps, getattr(stop.value, "__notes__", [])) == ([], [])
    assert not (tmp_path / "b.sqlite").exists()
