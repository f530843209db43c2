"""Which ConfigMaps apply to an assignment, and their merge, with the origin of every value.

values.py      the text of a ConfigMap's value → text or object
merging.py     one layer over another
matching.py    which labelled things apply to which pair of target and cluster type
layers.py      the ConfigMaps of a fleet → the configuration of each assignment
lint.py        values that are too large, or that surprise their authors
"""

from kalypso_actions.platform_config.layers import PlatformConfig
from kalypso_actions.platform_config.lint import config_map_problems, config_map_warnings
from kalypso_actions.platform_config.merging import Layers, merge_values
from kalypso_actions.platform_config.values import parse_value

__all__ = [
    "Layers",
    "PlatformConfig",
    "config_map_problems",
    "config_map_warnings",
    "merge_values",
    "parse_value",
]
