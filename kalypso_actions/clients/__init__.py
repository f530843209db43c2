"""The doors to the outside.

process         starts programs, and nothing else does
network         proxies and certificates of a given environment
git             repositories by the `git` program
github          GitHub by its APIs
resource_graph  Azure Resource Graph
kustomize       the `kustomize` program
folder          a plain folder as the files of a revision
output_folder   a folder that receives a whole tree
"""
