"""Speed and memory, on fleets that are made up."""
