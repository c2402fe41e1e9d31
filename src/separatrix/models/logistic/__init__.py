"""Logistic and softmax regression: the problem, how it is fitted, its estimator."""
