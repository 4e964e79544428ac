"""Measures as data: what each is, what its columns are called, those that every model has, and in which order they are found."""
