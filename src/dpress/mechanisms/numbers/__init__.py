"""Numbers from devices: reports near the own number, and single bits, that means and distributions follow from."""
