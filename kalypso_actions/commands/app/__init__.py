"""The commands of an application's repositories: `kalypso app render`.

`render` is the story: open the repositories (`source_files`), generate the manifests (`generate`,
and `by_helm` for charts), compare the tree, and publish it.
"""
