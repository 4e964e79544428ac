"""From recorded numbers to machine code: LLVM text, control flow, elementary functions, dense algebra, jit, cache."""
