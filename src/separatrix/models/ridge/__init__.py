"""Least squares as a classifier."""
