"""What every room shares: values, errors, protocols and the seam to the compiled kernels."""
