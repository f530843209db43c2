"""Compare `kalypso placement` with recorded answers of Open Cluster Management."""
