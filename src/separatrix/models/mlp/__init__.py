"""Networks of a few layers."""
