"""What stands beside a method for its audit: the file of its class that ends in `_audit`."""

import importlib
import importlib.util
from typing import Any


def beside(made: object) -> Any:
    """Return the module beside the file of an object's class, or of one that it extends; None where there is none.

    Instead of the module its `AUDIT`, where it has one. Either has `exact`, the exact checks of an instance, and
    `sampled`, those of its running code; may have `instance` and `few`, which make an instance for the former or the
    latter of a card, a loss and a unit, and `WITH_DELTA`, true where it is audited under epsilon and delta. Of what
    devices are asked it has `sent` alone: what makes the reports.
    """
    for kind in type(made).__mro__:
        name = f"{kind.__module__}_audit"
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            return getattr(module, "AUDIT", module)
    return None
