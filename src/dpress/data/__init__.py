"""The only readers of raw rows: the spec file, the codec, tables and the fold that sums over them."""
