"""Plans of all environments → the data of the report.

collection   assignments, with equal contents once, and without secrets
history      the last commits of the GitOps branches that changed each assignment
"""

from kalypso_actions.planning.fleet_report.collection import ReportCollection
from kalypso_actions.planning.fleet_report.history import MOST_COMMITS, MergedTree, last_changes

__all__ = ["MOST_COMMITS", "MergedTree", "ReportCollection", "last_changes"]
