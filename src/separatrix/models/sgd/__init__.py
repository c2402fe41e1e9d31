"""Descent, step by step: gradient and stochastic."""
