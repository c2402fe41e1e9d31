"""Naive Bayes of binary features."""
