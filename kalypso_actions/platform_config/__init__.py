"""Merge the ConfigMaps that apply to an assignment, with the origins of every value.

platform = PlatformConfig(fleet)
config = platform.config_of(assignment)  # values, their texts, and where they come from
platform.schemas_of(assignment)  # the texts of the JSON Schemas that apply
"""

from kalypso_actions.platform_config.layers import ConfigChanges, PlatformConfig
from kalypso_actions.platform_config.merging import parse_value

__all__ = ["ConfigChanges", "PlatformConfig", "parse_value"]
