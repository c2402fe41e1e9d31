"""Basis functions."""
