"""Anderson & Hsu's sensitivities and other methods beside them, in plain numpy: for comparison and teaching.

chain.py         a chain of pins and slides with its derivatives, link by link          (20)-(24), (33)-(38)
by_matrices.py   the traditional form O(p n + n^4), and Appendix A's, partially recursive, O(p n^2 + n^3)
recursive.py     the fully recursive form, O(p n)                                       (57)-(70)
steps.py         how far differences are off for steps of any size, and complex steps
counted.py       operations of all of them: the crossover of the paper's figure 2

Bellcrank's own derivatives are the recursive form on dual numbers, in machine code (dynamics.derivatives.by_design).
"""
