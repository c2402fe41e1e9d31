"""How to step from one total to the next point. Solvers know nothing of rows or labels."""
