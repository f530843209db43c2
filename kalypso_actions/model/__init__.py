"""Kalypso's nouns as frozen values: what every stage takes and gives."""
