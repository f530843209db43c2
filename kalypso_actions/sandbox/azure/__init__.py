"""Azure in the sandbox: identities, clusters, Resource Graph."""
