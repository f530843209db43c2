"""Two plans of an environment → their differences (`model.differences`), without secrets.

masking.py   remove secrets before anything shows a comparison
"""

from kalypso_actions.comparison.masking import MASKED, MASKED_KEYS, Mask

__all__ = ["MASKED", "MASKED_KEYS", "Mask"]
