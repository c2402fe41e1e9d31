"""Arithmetic without rounding: integers, null spaces, changes of coordinates."""
