"""Plan, collect, publish and check differentially private data.

The functions of the command line, and the objects they take and return. Each loads what it needs on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpress.core.claim import ROW, ZCDP, ApproxDP, Claim, PureDP, Relation, Unit
    from dpress.core.design import Design
    from dpress.core.errors import BudgetExceeded, NotSupported, ReportRejected, SchemaMismatch
    from dpress.data.specification.spec import Spec, load_spec
    from dpress.ledger.ledger import Ledger
    from dpress.release.data_check import DataCheck, check
    from dpress.release.designs import load_design, save_design
    from dpress.release.device import device, intake
    from dpress.release.estimate import estimate
    from dpress.release.evaluate import evaluate
    from dpress.release.load import load_release
    from dpress.release.periods.publish_period import publish_period
    from dpress.release.periods.series import Series, load_series
    from dpress.release.perturb import perturb
    from dpress.release.plan import Plan, plan
    from dpress.release.plan_for_error import plan_for_error
    from dpress.release.publish import publish
    from dpress.release.release import Release
    from dpress.release.result import Result
    from dpress.reporting.page import write_report as report

_HOMES = {
    "dpress.core.claim": ("ROW", "ZCDP", "ApproxDP", "Claim", "PureDP", "Relation", "Unit"),
    "dpress.core.design": ("Design",),
    "dpress.core.errors": ("BudgetExceeded", "NotSupported", "ReportRejected", "SchemaMismatch"),
    "dpress.data.specification.spec": ("Spec", "load_spec"),
    "dpress.ledger.ledger": ("Ledger",),
    "dpress.release.data_check": ("DataCheck", "check"),
    "dpress.release.designs": ("load_design", "save_design"),
    "dpress.release.device": ("device", "intake"),
    "dpress.release.estimate": ("estimate",),
    "dpress.release.evaluate": ("evaluate",),
    "dpress.release.load": ("load_release",),
    "dpress.release.periods.publish_period": ("publish_period",),
    "dpress.release.periods.series": ("Series", "load_series"),
    "dpress.release.perturb": ("perturb",),
    "dpress.release.plan": ("Plan", "plan"),
    "dpress.release.plan_for_error": ("plan_for_error",),
    "dpress.release.publish": ("publish",),
    "dpress.release.release": ("Release",),
    "dpress.release.result": ("Result",),
}
__all__ = [
    "ROW",
    "ZCDP",
    "ApproxDP",
    "BudgetExceeded",
    "Claim",
    "DataCheck",
    "Design",
    "Ledger",
    "NotSupported",
    "Plan",
    "PureDP",
    "Relation",
    "Release",
    "ReportRejected",
    "Result",
    "SchemaMismatch",
    "Series",
    "Spec",
    "Unit",
    "__version__",
    "check",
    "device",
    "estimate",
    "evaluate",
    "intake",
    "load_design",
    "load_release",
    "load_series",
    "load_spec",
    "perturb",
    "plan",
    "plan_for_error",
    "publish",
    "publish_period",
    "report",
    "save_design",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("dpress")
    if name == "report":
        return importlib.import_module("dpress.reporting.page").write_report
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'dpress' has no attribute {name!r}")
