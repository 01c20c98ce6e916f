"""Who a row's person is, how many rows each has, and which of them stay."""
