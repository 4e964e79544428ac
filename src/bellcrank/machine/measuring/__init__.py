"""Measures over any number: what each kind says of a state, and the loops over them."""
