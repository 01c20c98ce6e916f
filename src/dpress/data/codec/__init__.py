"""From columns of any type to cells: every value by itself, as `core.coding` says."""
