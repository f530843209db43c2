"""Looks at environments and their clusters, and the record after them.

read        the targets of environments, and the reports of their clusters
branches    what a branch wants of its targets at each new commit
promotions  the commits of main, and their states in each environment
look        what was read, compared with a record
recorder    the looks of a run that watches clusters, written at its end
"""
