"""Machine code: what kernels do is recorded as a graph, and written as LLVM text."""
