"""Documents of a control plane and of registered repositories → the fleet of an environment.

fleet, diagnostics = assemble("dev", Branch("dev", documents), bases)
workloads, diagnostics = read_workloads(registration, "dev", documents)
"""
