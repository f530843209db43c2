"""Read everything that one run needs, once, as a sequence.

environment = read_environment_branch(reader, url, "dev")
control_plane = read_control_plane(environment, reader)
snapshot = read_snapshot(control_plane, reader, base_trees=trees)
"""
