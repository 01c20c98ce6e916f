"""Arrow columns of any type, as every type of attribute reads them."""
