"""Workloads that time separatrix against its peers: ``python -m benchmarks --help``."""
