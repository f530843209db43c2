"""Render only the assignments whose inputs have changed since the base tree was written."""
