"""Tables of counts: one histogram, or several marginals; from a table or from devices."""
