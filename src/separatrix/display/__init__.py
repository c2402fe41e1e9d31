"""Pictures in scikit-learn's Display manner: each holds its numbers first and draws later."""
