"""The words that kernels are written in, and what runs them.

arrays.py     declarations: what a kernel reads and writes
executor.py   the words: each, fold, loop, switch, when, repeat
python.py     as Python, on any number
llvm/         as machine code: recorded, written as LLVM text
jit.py, cache.py, processor.py   from text to code in memory and on disk
"""
