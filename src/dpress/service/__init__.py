"""Collection over HTTP: what devices are asked, and their reports."""
