"""The story of each command: what is read, planned, and written last."""
