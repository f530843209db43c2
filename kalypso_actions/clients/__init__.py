"""Clients of other programs and servers.

process              starts programs
process_limits       limits the memory and the time of a running process
leftover_processes   ends the processes that programs leave behind
worker_processes     processes of Python that share the work of a run
network              proxies and certificates from a given environment
git                  repositories, with the `git` program
github               GitHub, with its REST and GraphQL APIs
resource_graph       Azure Resource Graph
kustomize            the `kustomize` program
helm                 the `helm` program
helm_release         fetches helm for a job
kubernetes_schemas   the schemas of the package kubernetes-validate
scratch              temporary folders for programs, and their environment
folder               a plain folder, read like a commit
output_folder        a folder that receives a whole tree
files_at_hand        the files on this machine that locations name
file_watch           waits until files change
installed_code       the digest of the installed code
"""
