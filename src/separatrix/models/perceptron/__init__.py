"""The perceptron, with a proof of where it ended."""
