"""Plans of all environments → the data of the report.

collection   assignments, with equal contents once, and without secrets
"""

from kalypso_actions.fleet_report.collection import MOST_WITH_FILES, ReportCollection

__all__ = ["MOST_WITH_FILES", "ReportCollection"]
