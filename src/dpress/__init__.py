"""Plan, collect, publish and check differentially private data.

The five functions of the command line, and the objects they take and return. Each loads what it needs on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpress.core.claim import ROW, ZCDP, ApproxDP, Claim, PureDP, Relation, Unit
    from dpress.core.errors import BudgetExceeded, NotSupported, ReportRejected, SchemaMismatch
    from dpress.data.spec import Spec, load_spec
    from dpress.ledger.ledger import Ledger
    from dpress.release.load import load_release
    from dpress.release.plan import Plan, plan
    from dpress.release.publish import publish
    from dpress.release.release import Release

__all__ = [
    "ROW",
    "ZCDP",
    "ApproxDP",
    "BudgetExceeded",
    "Claim",
    "Ledger",
    "NotSupported",
    "Plan",
    "PureDP",
    "Relation",
    "Release",
    "ReportRejected",
    "SchemaMismatch",
    "Spec",
    "Unit",
    "load_release",
    "load_spec",
    "plan",
    "publish",
]

_HOMES = {
    "dpress.core.claim": ("ROW", "ZCDP", "ApproxDP", "Claim", "PureDP", "Relation", "Unit"),
    "dpress.core.errors": ("BudgetExceeded", "NotSupported", "ReportRejected", "SchemaMismatch"),
    "dpress.data.spec": ("Spec", "load_spec"),
    "dpress.ledger.ledger": ("Ledger",),
    "dpress.release.release": ("Release",),
    "dpress.release.load": ("load_release",),
    "dpress.release.plan": ("Plan", "plan"),
    "dpress.release.publish": ("publish",),
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'dpress' has no attribute {name!r}")
