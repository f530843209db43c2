"""Documents out of the files of a commit, by the rules of Flux."""
