"""scikit-learn's contract on top of terms, engines, solvers and certificates."""
