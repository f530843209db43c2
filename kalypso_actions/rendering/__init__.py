"""An assignment, its configuration and its Templates → the files of its folder.

data.py               the data of a template
namespaces.py         the name of an assignment's namespace
delivered.py          texts of registered repositories that change documents
outline.py            the documents of rendered files
object_names.py       the names of the objects in rendered files
shell_texts.py        shell commands in rendered files
registration_budget.py
                      the limit of work for all assignments of a registration
failures.py           the reasons why an assignment has no files
plain_words.py        the messages of template engines in plain words
manifests.py          the interface of compiled manifests, and their error
go_manifests.py       Go templates: texts, and the objects of old control planes
jinja/                Jinja2 templates, by annotation
functions.py          Kalypso's own template functions, in addition to sprig's
hashing.py            `hash`
builtin_config.py     configuration files without a Template, as in old control planes
repeated_keys.py      keys of an application that a Template writes as well
missing_values.py     `<no value>` in files
fields_read.py        the fields that a Template reads
unknown_fields.py     fields that no assignment has
unquoted.py           texts of applications that templates print without quoting them
compiled_templates.py compiled manifests, their joined text, the places of their errors
folder_files.py       the files of an assignment's folder, from the Templates that fill them
renderer.py           assignments, within the bounds of registered repositories
"""

from kalypso_actions.rendering.compiled_templates import (
    join_manifests,
    missing_template,
    render_template,
    template_faults,
)
from kalypso_actions.rendering.data import TemplateData
from kalypso_actions.rendering.delivered import special_texts
from kalypso_actions.rendering.failures import OF_TEMPLATES, Excerpt, Failure
from kalypso_actions.rendering.fields_read import fields_read
from kalypso_actions.rendering.folder_files import Options, is_builtin_config
from kalypso_actions.rendering.manifests import ManifestError
from kalypso_actions.rendering.missing_values import (
    Rendered,
    lacks_value,
    missing_value_failure,
    missing_values,
)
from kalypso_actions.rendering.namespaces import namespace_of
from kalypso_actions.rendering.registration_budget import (
    REFUSAL,
    Spend,
    is_excessive,
    share_of_registration,
)
from kalypso_actions.rendering.renderer import Renderer, too_large
from kalypso_actions.rendering.unknown_fields import unknown_fields
from kalypso_actions.rendering.unquoted import unquoted_texts

__all__ = [
    "OF_TEMPLATES",
    "REFUSAL",
    "Excerpt",
    "Failure",
    "ManifestError",
    "Options",
    "Rendered",
    "Renderer",
    "Spend",
    "TemplateData",
    "fields_read",
    "is_builtin_config",
    "is_excessive",
    "join_manifests",
    "lacks_value",
    "missing_template",
    "missing_value_failure",
    "missing_values",
    "namespace_of",
    "render_template",
    "share_of_registration",
    "special_texts",
    "template_faults",
    "too_large",
    "unknown_fields",
    "unquoted_texts",
]
