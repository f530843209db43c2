"""The manifests of an application, made from its chart and its configs.

targets, findings = find_targets(entries, repository, "none")
values, findings = values_files(target, contents, variables, repository, "none")
files, findings = tree_files(generated, targets, options)
"""
