"""An assignment, its configuration and its Templates → the files of its folder.

    renderer = Renderer("dev", fleet.templates, Options())
    outcome = renderer.render(assignment, platform.config_of(assignment))
    files = {} if isinstance(outcome, Failure) else outcome  # bytes by name

Templates are Go templates (`manifests`) or, by annotation, Jinja2 templates (`jinja`). Texts of a
registered repository must not change the documents (`delivered`), and all assignments of a
registration together have a limit of work (`registration_budget`).
"""

from kalypso_actions.rendering.data import TemplateData, namespace_of
from kalypso_actions.rendering.delivered import special_texts
from kalypso_actions.rendering.failures import BROKEN_SCHEMA, OF_TEMPLATES, REFUSED_CONFIG, Failure
from kalypso_actions.rendering.folder_files import (
    Options,
    is_builtin_config,
    join_manifests,
    missing_template,
    render_template,
    template_faults,
)
from kalypso_actions.rendering.registration_budget import Spend, is_excessive, share_of_registration
from kalypso_actions.rendering.renderer import Renderer, too_large
from kalypso_actions.rendering.template_lint import (
    MAPS,
    PRINTS_NOTHING,
    USUAL_KEYS,
    Rendered,
    fields_read,
    is_jinja,
    keys_read,
    lacks_value,
    missing_value_failure,
    reversed_defaults,
    template_of,
    unknown_fields,
    unquoted_texts,
    uses,
    value_gaps,
)

__all__ = [
    "BROKEN_SCHEMA",
    "MAPS",
    "OF_TEMPLATES",
    "PRINTS_NOTHING",
    "REFUSED_CONFIG",
    "USUAL_KEYS",
    "Failure",
    "Options",
    "Rendered",
    "Renderer",
    "Spend",
    "TemplateData",
    "fields_read",
    "is_builtin_config",
    "is_excessive",
    "is_jinja",
    "join_manifests",
    "keys_read",
    "lacks_value",
    "missing_template",
    "missing_value_failure",
    "namespace_of",
    "render_template",
    "reversed_defaults",
    "share_of_registration",
    "special_texts",
    "template_faults",
    "template_of",
    "too_large",
    "unknown_fields",
    "unquoted_texts",
    "uses",
    "value_gaps",
]
