"""An embedded GitHub and Azure Resource Graph on a loopback port, over bare git repositories."""
