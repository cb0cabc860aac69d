"""Measurements of derivative-covers against its peers: ``python -m benchmarks``."""
