"""Gaussian classes with one covariance."""
