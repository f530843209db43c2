"""Clients of other programs and servers.

process         starts programs; no other module does
network         proxies and certificates from a given environment
git             repositories by the `git` program
github          GitHub by its APIs
resource_graph  Azure Resource Graph
kustomize       the `kustomize` program
folder          a plain folder, read like a commit
output_folder   a folder that receives a whole tree
"""
