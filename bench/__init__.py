"""Benchmarks of speed and memory, on generated fleets."""
