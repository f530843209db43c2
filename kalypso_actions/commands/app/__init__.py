"""The commands of an application's repositories.

render       `kalypso app render`: the order of the steps
compute      repositories → the tree, checked and compared
places       open the repositories
variables    the values of the ten variables
generate     choose the generators by the files of the source
work         the inputs and results of the generators
by_helm, by_kustomize, by_command, plain
             the generators
helm_program the helm program: that of PATH, or in a job a pinned release
publish      write the tree to a folder, or commit it
"""
