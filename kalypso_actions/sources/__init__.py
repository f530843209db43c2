"""Read the documents of a commit by the rules of Flux."""
