"""Merge the ConfigMaps that apply to an assignment, with the origins of every value.

values.py      the text of a ConfigMap's value → text or object
merging.py     one layer of configuration over another
matching.py    the labelled objects that apply to an assignment
layers.py      the ConfigMaps of a fleet → the configuration of each assignment
changes.py     the assignments that a change of ConfigMaps or schemas affects
digests.py     one digest of the objects that apply to an assignment
reach.py       the labels that a cluster type and a target have together
lint.py        values that are too large, or that may surprise their authors
"""

from kalypso_actions.platform_config.changes import ConfigChanges
from kalypso_actions.platform_config.layers import (
    AZURE_APP_CONFIG_PREFIX,
    AppliedSchema,
    Entry,
    PlatformConfig,
    split_azure_key,
)
from kalypso_actions.platform_config.lint import config_map_problems, config_map_warnings
from kalypso_actions.platform_config.matching import Label, matched_labels
from kalypso_actions.platform_config.merging import Layers
from kalypso_actions.platform_config.reach import Reach
from kalypso_actions.platform_config.values import parse_value

__all__ = [
    "AZURE_APP_CONFIG_PREFIX",
    "AppliedSchema",
    "ConfigChanges",
    "Entry",
    "Label",
    "Layers",
    "PlatformConfig",
    "Reach",
    "config_map_problems",
    "config_map_warnings",
    "matched_labels",
    "parse_value",
    "split_azure_key",
]
