"""Cards and files: the catalogue finds every method, and every method has a card and a test."""

import importlib
from pathlib import Path

import pytest

import dpress.mechanisms
from dpress import catalog
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.parameters import names
from dpress.core.maps.ranges import AllRanges, Prefixes
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Boxes, Marginals, Predicates
from dpress.core.methods.mechanism import Card, Strategy
from dpress.mechanisms.linear.product import Product

SOURCE = Path(dpress.mechanisms.__file__).parent
TESTS = Path(__file__).parent.parent / "mechanisms"
FILES = [file for file in sorted(SOURCE.rglob("*.py")) if "\nCARD = " in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_method_file_has_a_card_of_its_name_and_a_test(file: Path) -> None:
    family, *folders, _ = file.relative_to(SOURCE).parts
    assert folders in ([], [catalog.DOCUMENTS])
    module = importlib.import_module(".".join(["dpress.mechanisms", family, *folders, file.stem]))
    assert module.CARD.name == file.stem
    assert module.CARD.family == family
    assert catalog.card(file.stem) is module.CARD
    assert catalog.entries()[file.stem].competes == (not folders)
    assert (TESTS / family / f"test_{file.stem}.py").is_file()


DOCUMENTS = {"foundations", "ranges", "local", "joint", "spatial", "microdata", "regions"}
SUMS_OF_THEIR_OWN = ("cross_moments", "group_statistics", "spine_marginals")
"""Of values, and of regions: no workload of tables or ranges has their cells."""


def test_the_catalogue_holds_exactly_the_method_files_in_order() -> None:
    assert list(catalog.cards()) == list(catalog.entries()) == sorted(file.stem for file in FILES)


def test_a_card_says_what_people_choose_by(card: Card) -> None:
    assert card.model in {"central", "local"}
    assert (SOURCE / card.family / "__init__.py").is_file()
    assert card.paper.partition(":")[0] in {
        "foundations",
        "ranges",
        "local",
        "joint",
        "spatial",
        "microdata",
        "regions",
    }
    assert card.paper.partition(":")[2].strip()
    assert card.summary.endswith(".")
    assert len(card.summary.split()) >= 5
    assert card.summary.count(".") == 1


def test_a_cards_method_is_the_class_of_its_example(card: Card) -> None:
    approximate = ApproxDP(epsilon=1, delta=1e-6)
    losses: dict[str, Loss] = {"dst": ZCDP(rho=1), "selection": approximate}
    losses["discovered_groups"] = approximate
    example = card.example(losses.get(card.name, losses.get(card.family, PureDP(epsilon=1))), ROW)
    assert isinstance(example, card.method) or isinstance(getattr(example, "strategy", None), card.method)
    folder = f"{card.family}" if catalog.entries()[card.name].competes else f"{card.family}.{catalog.DOCUMENTS}"
    assert card.method.__module__ == f"dpress.mechanisms.{folder}.{card.name}"


def test_a_strategy_serves_a_workload_of_the_right_cells_or_none(card: Card) -> None:
    if card.strategy is None:
        if card.name in SUMS_OF_THEIR_OWN:
            return
        assert (
            card.family
            in (
                "choice",
                "joint",
                "microdata",
                "ranges",
                "numbers",
                "selection",
                "discovery",
                "statistics",
                "strings",
                "sets",
            )
            or card.oracle is not None
            or card.spatial is not None
        )
        return
    workloads = (
        Boxes((AllRanges(9),)),
        Boxes((AllRanges(3), Prefixes(4))),
        Marginals((2, 3), ((0,), (1,))),
        Marginals((2, 3), ((0, 1),)),
        Predicates(("a", "b"), SetSums(3, ((0, 1), (1, 2)))),
    )
    stated = {"seconds": 1} if "seconds" in names(card.parameters) else {}
    losses = (PureDP(epsilon=1), ZCDP(rho=1))
    served = [(workload, card.strategy(workload, loss, **stated)) for workload in workloads for loss in losses]
    assert any(strategy is not None for _, strategy in served)
    for workload, strategy in served:
        if strategy is not None:
            assert isinstance(strategy, Strategy)
            single = len(getattr(workload, "axes", ())) < 2
            assert isinstance(strategy, card.method if single else (Product, card.method))
            assert strategy.map.cells == workload.cells


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(NotSupported, match="there is no method 'prive'; `dpress list` shows all "):
        catalog.card("prive")


def test_claims_of_a_method_that_refuses_a_loss_leave_it_out() -> None:
    assert catalog.claims(catalog.card("exponential")) == ("epsilon", "epsilon")
    assert catalog.claims(catalog.card("privelet")) == ("epsilon, rho", "epsilon, rho")
    assert catalog.claims(catalog.card("partition_selection")) == ("epsilon and delta", "epsilon and delta")
    assert set(catalog.LOSSES.values()) == {PureDP(epsilon=1), ZCDP(rho="0.5"), ApproxDP(epsilon=1, delta="1e-6")}


def test_the_index_says_what_the_cards_say() -> None:
    for name, card in catalog.cards().items():
        entry = catalog.entries()[name]
        assert (entry.family, entry.model, entry.paper) == (card.family, card.model, card.paper)
        assert (entry.published, entry.proven) == catalog.claims(card)
        assert set(entry.makes) == {what for what in catalog.MAKES if getattr(card, what) is not None}
    assert set(catalog.cards("oracle", "local")) == {
        name for name, card in catalog.cards().items() if card.oracle is not None
    }
