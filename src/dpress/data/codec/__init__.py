"""From columns of any type to cells: every value by itself, as `attributes.coding` says."""
