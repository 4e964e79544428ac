"""Measures over any number: the value of each kind of measure at a state, and the loops over them."""
