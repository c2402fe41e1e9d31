"""How good an answer is, with a proof that can be re-checked from the data alone."""
