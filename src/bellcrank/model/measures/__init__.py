"""Measures as data: what each is, what its columns are called, those of every model, and in which order they are found."""
