"""Azure Resource Graph: the Flux configurations of clusters."""
