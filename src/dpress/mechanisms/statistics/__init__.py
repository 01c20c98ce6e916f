"""Statistics of groups by several steps under one claim."""
