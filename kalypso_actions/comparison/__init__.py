"""Two plans of an environment → their differences (`model.differences`), without secrets.

values = value_changes(configured)                  # from `differences`
shown = Mask(hidden=urls).masked(Comparison("dev", values=values))
print(unified_diff(shown.files[0]))
"""

from kalypso_actions.comparison.masking import Mask
from kalypso_actions.comparison.unified import unified_diff

__all__ = ["Mask", "unified_diff"]
