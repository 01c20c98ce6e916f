"""What an audit needs of a method stands beside the method, and nowhere else."""

from pathlib import Path

import pytest

from dpress import PureDP, catalog, mechanisms
from dpress.audit import run
from dpress.core.basics.errors import NotSupported
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

MECHANISMS = Path(mechanisms.__path__[0])
SHARED = ("names_audit", "copies_audit")


def test_an_audit_stands_beside_its_method_and_without_one_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {path.relative_to(MECHANISMS) for path in MECHANISMS.rglob("*_audit.py")}
    methods = {path.with_stem(path.stem.removesuffix("_audit")) for path in found if path.stem not in SHARED}
    assert [path for path in methods if not (MECHANISMS / path).exists()] == []
    assert len(methods) >= 16
    monkeypatch.setattr(MatrixMechanism, "__module__", "dpress.mechanisms.linear.moved")
    with pytest.raises(NotSupported, match=r"^there is no audit of privelet yet$"):
        run.audit(catalog.card("privelet"), PureDP(epsilon=1))
