"""Bayes decisions under a loss matrix."""
