"""The vocabulary in which kernels are written, and its executors.

arrays.py     declarations: what a kernel reads and writes
executor.py   the words: each, fold, loop, switch, when, repeat
python.py     as Python, on any number
llvm/         as machine code: recorded, written as LLVM text
jit.py, cache.py, processor.py   from text to code in memory and on disk
"""
