"""Sets of values out of a public list, from devices: how many people hold each value."""
