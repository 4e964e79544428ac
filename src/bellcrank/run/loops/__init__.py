"""How a run treats closed loops: starts that contradict, the choice of equations, singular positions."""
