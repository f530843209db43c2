"""Kalypso's nouns as frozen values, the inputs and outputs of the stages."""
