"""The ways into a kernel: batches, and functions that Python calls directly."""
