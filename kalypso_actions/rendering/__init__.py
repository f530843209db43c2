"""An assignment, its configuration and its Templates → the files of its folder.

data.py               what a template sees
manifests.py          what a compiled manifest is, whatever its language
go_manifests.py       Go templates: texts, and the objects of old control planes
jinja/                Jinja2 templates, by annotation
functions.py          Kalypso's own template functions, over sprig's
hashing.py            `hash`
builtin_config.py     the configuration of control planes that have no Template for it
renderer.py           which Template goes into which file, and how manifests join
"""

from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.manifests import ManifestError
from kalypso_actions.rendering.renderer import (
    Excerpt,
    Failure,
    Options,
    Renderer,
    is_builtin_config,
    join_manifests,
    namespace_of,
    render_template,
    template_faults,
)

__all__ = [
    "Excerpt",
    "Failure",
    "ManifestError",
    "Options",
    "Renderer",
    "TemplateData",
    "is_builtin_config",
    "join_manifests",
    "namespace_of",
    "render_template",
    "template_faults",
]
