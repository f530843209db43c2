"""The files of an assignment's folder, each from a Template or without one.

Before Templates of type `config` existed, a ClusterType without `configType`, or with `configMap`,
got a ConfigMap, and one with `envFile` got a shell script. Their values are plain texts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from kalypso_actions.errors import Problem
from kalypso_actions.model.caches import IdentityCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.kinds import (
    DOCUMENTS_FROM_ANNOTATION,
    ENGINE_ANNOTATION,
    Assignment,
    ClusterType,
    Template,
)
from kalypso_actions.model.layout import (
    CONFIG_FILE,
    CONFIG_SCRIPT,
    LEGACY_CONFIG_FILE,
    NAMESPACE_FILE,
    RECONCILER_FILE,
)
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering.data import (
    NamespaceScheme,
    SharedConfig,
    SharedTexts,
    TemplateData,
    namespace_of,
)
from kalypso_actions.rendering.failures import UNCLOSED, Excerpt, Failure, Outcome, in_plain_words
from kalypso_actions.rendering.manifests import (
    Manifest,
    ManifestError,
    ObjectManifest,
    TextManifest,
)
from kalypso_actions.rendering.template_lint import templated_value
from kalypso_go import goyaml
from kalypso_go.gotemplate import DEFAULT_LIMITS
from kalypso_go.gotemplate.budget import work_of

MANIFEST_SEPARATOR = "---\n"

_GO, _JINJA = "gotemplate", "jinja2"


def render_template(
    template: Template, data: TemplateData
) -> tuple[tuple[str, ...], tuple[Failure, ...]]:
    """Render a Template for its author: return the texts of its manifests, and all failures."""
    manifests, failures = compiled(template)
    texts = []
    for index, manifest in enumerate(() if failures else manifests):
        try:
            texts.append(manifest.render(data))
        except ManifestError as error:
            failures.append(manifest_failure(template, index, error))
    return tuple(texts), tuple(failures)


def join_manifests(texts: Iterable[str]) -> str:
    """Join the manifests of one Template.

    This drops empty manifests, but keeps those of white space, and adds no final newline.
    """
    return MANIFEST_SEPARATOR.join(text for text in texts if text)


def template_faults(template: Template) -> Iterator[Problem]:
    """Yield a problem for each manifest that does not compile, or for an unknown engine."""
    for failure in compiled(template)[1]:
        yield failure.problem


def compiled(template: Template) -> tuple[tuple[Manifest, ...], list[Failure]]:
    """Return the compiled manifests of a Template, and the failures of the others."""
    engine = template.annotations.get(ENGINE_ANNOTATION, _GO)
    if engine not in {_GO, _JINJA}:
        subject = f"Template {template.name!r}: {ENGINE_ANNOTATION}"
        fault = f"{subject} names an unknown engine {engine!r}"
        advice = f"write {_JINJA}, or remove it for Go"
        return (), [Failure(fault, template.where, advice, code="template-invalid")]
    manifests: list[Manifest] = []
    failures: list[Failure] = []
    for index, source in enumerate(template.manifests):
        try:
            manifests.append(_compile_manifest(source, engine))
        except ManifestError as error:
            failures.append(manifest_failure(template, index, error, code="template-invalid"))
    return tuple(manifests), failures


def _compile_manifest(source: str | Mapping[str, object], engine: str) -> Manifest:
    if engine == _JINJA:
        if isinstance(source, Mapping):
            raise ManifestError("an object is not a Jinja2 template: write the manifest as a text")
        # Importing Jinja2 takes time, and most runs have no Template for it.
        from kalypso_actions.rendering.jinja.manifests import JinjaManifest  # noqa: PLC0415

        return JinjaManifest(source)
    return ObjectManifest(source) if isinstance(source, Mapping) else TextManifest(source)


def manifest_failure(
    template: Template, index: int, error: ManifestError, code: str = "template-failed"
) -> Failure:
    """Locate an error in the Template's file.

    An error in another text, such as the output of an earlier pass, has no line in a file.
    """
    where, place = template.at(index), (error.line, error.column)
    if error.line and error.text == template.manifests[index]:
        line, column = error.line, error.column
        if begun := UNCLOSED.search(error.message):
            # An unclosed action ends with the text, so report the place where it begins.
            line = int(begun["line"])
            column = error.text.split("\n")[line - 1].rfind("{{") + 1
        elif error.opened >= 0:
            line = error.text.count("\n", 0, error.opened) + 1
            column = error.opened - error.text.rfind("\n", 0, error.opened)
            place = line, column
        where = template.at(index, line, column)
    fault, advice = in_plain_words(error.message)
    if error.opened >= 0:
        end = error.text.find("}}", error.opened) + len("}}")
        block = " ".join(error.text[error.opened : end].split())
        fault, advice = f": {block} has no {{{{ end }}}}", "add {{ end }} where the block ends"
    if code == "template-invalid" and not UNCLOSED.search(error.message):
        advice = _open_action(template, index, error) or advice
    verb = "is invalid" if code == "template-invalid" else "fails"
    return Failure(
        error.message,
        where,
        advice or "correct the Template, or the data that it reads",
        excerpt=Excerpt(error.text, *place) if error.text else None,
        code=code,
        plain=f"Template {template.name!r} {verb}{fault}",
    )


def _open_action(template: Template, index: int, error: ManifestError) -> str:
    """Return advice if an error lies in an action that begins on an earlier line, else ""."""
    lines = error.text.split("\n")[: error.line]
    if error.text != template.manifests[index] or not error.column:
        return ""
    before = "\n".join([*lines[:-1], lines[-1][: error.column - 1]])
    start = before.rfind("{{")
    if start <= before.rfind("}}") or "\n" not in before[start:]:
        return ""
    line = template.at(index, before.count("\n", 0, start) + 1).line
    return f"the action that begins on line {line} is still open here: close it there with }}}}"


def missing_template(
    name: str,
    cluster_type: ClusterType,
    field: str,
    templates: Iterable[str],
    unpromoted: Collection[str] = (),
) -> Problem:
    """Return the problem of a cluster type whose field names a missing Template."""
    near = nearest(name, templates)
    if name in unpromoted:
        advice = (
            f"main has the Template {name!r} now, but this environment has an earlier commit of "
            "main: promote main to it"
        )
    elif near:
        advice = f"did you mean {near!r}? Otherwise add a Template named {name!r} to main"
    else:
        advice = f"add a Template named {name!r} to main, or correct the name in the ClusterType"
    return Problem(
        f"ClusterType {cluster_type.name!r}: {field} names the Template {name!r}, which does not "
        "exist",
        cluster_type.at(field),
        advice,
        "template-missing",
    )


CONFIG_FIELD = "configType"

SHARED_KEYS: Final = 20_000
"""The most keys of shared configurations, enough for those of some hundred assignments."""

KEPT_TARGETS: Final = 10_000
"""The most targets whose texts are kept, enough for those of a large cluster type."""

SHELL_CONTENT = "sh"

_CONFIG_MAP_TYPES = frozenset({"", "configMap"})
_ENV_FILE_TYPE = "envFile"


@dataclass(frozen=True, slots=True)
class Options:
    """The options that give the output of old control planes."""

    namespace_scheme: NamespaceScheme = "current"
    config_file: Literal["current", "legacy"] = "current"
    registration_text: Literal["strict", "any"] = "strict"


class FileRenderer:
    """Renders the files of assignments of one environment; compiles each Template once."""

    def __init__(
        self,
        environment: str,
        templates: Iterable[Template],
        options: Options,
        unpromoted: Collection[str] = (),
    ) -> None:
        """`unpromoted` are Templates of main's head that the environment's commit lacks."""
        self._environment = environment
        self._options = options
        self._unpromoted = unpromoted
        self._templates = {template.name: template for template in templates}
        self._compiled: dict[str, tuple[Manifest, ...] | Failure] = {}
        self._changing: dict[tuple[str, str, str], bool] = {}
        self._texts: IdentityCache[Mapping[str, str], SharedTexts] = IdentityCache(KEPT_TARGETS)
        self._shared: IdentityCache[Mapping[str, object], SharedConfig] = IdentityCache(SHARED_KEYS)

    def data(self, assignment: Assignment, config: MergedConfig) -> TemplateData:
        """Return the data that the Templates see."""
        target = assignment.target
        return TemplateData(
            target=target.name,
            namespace=namespace_of(assignment, self._environment, self._options.namespace_scheme),
            environment=self._environment,
            workspace=target.workspace,
            workload=target.workload,
            labels=target.labels,
            manifests=target.manifests,
            cluster_type=assignment.cluster_type.name,
            config=config.values,
            shared=self._shared_config(assignment.cluster_type, config),
            shared_texts=self._texts.result(SharedTexts, target.labels, target.manifests),
        )

    def config_work(self, cluster_type: ClusterType, config: MergedConfig) -> int:
        """Return the work of reading a configuration."""
        shared = self._shared_config(cluster_type, config)
        return shared.work if shared else work_of(config.values, DEFAULT_LIMITS.work)

    def _shared_config(
        self, cluster_type: ClusterType, config: MergedConfig
    ) -> SharedConfig | None:
        """Return the configuration that assignments share; None if a Template may change it."""
        names = _template_names(cluster_type)
        if names not in self._changing:
            self._changing[names] = any(map(self._changes_data, names))
        if self._changing[names]:
            return None
        size = len(config.values) + 1
        return self._shared.result(SharedConfig, config.values, size=size)

    def _changes_data(self, name: str) -> bool:
        template = self._templates.get(name)
        manifests = self._manifests(template) if template else ()
        return isinstance(manifests, Failure) or any(item.changes_data for item in manifests)

    def render(self, assignment: Assignment, data: TemplateData, config: MergedConfig) -> Outcome:
        """Return the files by name.

        An empty configuration has no file; the other two files exist even if they are empty.
        """
        cluster_type = assignment.cluster_type
        files: dict[str, bytes] = {}
        for file, name, field in (
            (RECONCILER_FILE, cluster_type.reconciler, "reconciler"),
            (NAMESPACE_FILE, cluster_type.namespace_service, "namespaceService"),
        ):
            text = self._render_template(name, data, cluster_type, field, config)
            if isinstance(text, Failure):
                return text
            files[file] = _encoded(text)
        config_text = self._render_config(assignment, data, config)
        if isinstance(config_text, Failure):
            return config_text
        if config_text:
            files[self._config_file(cluster_type.config_type)] = _encoded(config_text)
        return files

    def list_keys(self, cluster_type: ClusterType) -> set[str]:
        """Return the keys of manifests from which the Templates make documents."""
        templates = filter(None, map(self._templates.get, _template_names(cluster_type)))
        texts = (item.annotations.get(DOCUMENTS_FROM_ANNOTATION, "") for item in templates)
        return {key.strip() for text in texts for key in text.split(",")}

    def _render_config(
        self, assignment: Assignment, data: TemplateData, config: MergedConfig
    ) -> str | Failure:
        """Render the Template that `configType` names, else a file without a Template."""
        cluster_type = assignment.cluster_type
        config_type = cluster_type.config_type
        if config_type in self._templates:
            return self._render_template(config_type, data, cluster_type, CONFIG_FIELD, config)
        try:
            if config_type in _CONFIG_MAP_TYPES:
                return _config_map(config.texts, data.namespace)
            if config_type == _ENV_FILE_TYPE:
                return _env_file(config.texts)
        except ManifestError as error:
            return Failure(error.message, cluster_type.at(CONFIG_FIELD))
        return self._not_found(config_type, cluster_type, CONFIG_FIELD)

    def _config_file(self, config_type: str) -> str:
        template = self._templates.get(config_type)
        if template.content_type == SHELL_CONTENT if template else config_type == _ENV_FILE_TYPE:
            return CONFIG_SCRIPT
        return LEGACY_CONFIG_FILE if self._options.config_file == "legacy" else CONFIG_FILE

    def _render_template(
        self,
        name: str,
        data: TemplateData,
        cluster_type: ClusterType,
        field: str,
        config: MergedConfig,
    ) -> str | Failure:
        """Render and join the manifests of one Template, which a field of a cluster type names."""
        template = self._templates.get(name)
        if template is None:
            return self._not_found(name, cluster_type, field)
        manifests = self._manifests(template)
        if isinstance(manifests, Failure):
            return manifests
        texts = []
        for index, manifest in enumerate(manifests):
            try:
                texts.append(manifest.render(data))
            except ManifestError as error:
                failure = manifest_failure(template, index, error)
                return (
                    failure
                    if error.text == template.manifests[index]
                    else _of_value(failure, config)
                )
        return join_manifests(texts)

    def _not_found(self, name: str, cluster_type: ClusterType, field: str) -> Failure:
        problem = missing_template(name, cluster_type, field, self._templates, self._unpromoted)
        return Failure(
            problem.message,
            cluster_type.at(field),
            problem.advice,
            code=problem.code,
            missing_template=name,
        )

    def _manifests(self, template: Template) -> tuple[Manifest, ...] | Failure:
        known = self._compiled.get(template.name)
        if known is None:
            manifests, failures = compiled(template)
            known = self._compiled[template.name] = failures[0] if failures else manifests
        return known


def _of_value(failure: Failure, config: MergedConfig) -> Failure:
    """Return a failure in the output of an earlier pass at the value that is a template there."""
    if failure.excerpt is None:
        return failure
    rows = failure.excerpt.text.split("\n")[failure.excerpt.line - 1 :][:1]
    value = templated_value(config, rows[0]) if rows else None
    if value is None:
        return failure
    name, verb, fault = failure.plain.partition(" fails")
    advice = failure.advice.replace("the Template, or the data that it reads", "the value")
    plain = f"{value[0]} is a template, with which {name}{verb}{fault}"
    return replace(failure, where=value[1], plain=plain, advice=advice)


def _template_names(cluster_type: ClusterType) -> tuple[str, str, str]:
    return cluster_type.reconciler, cluster_type.namespace_service, cluster_type.config_type


def is_builtin_config(config_type: str) -> bool:
    """Return whether a `configType` works without a Template of that name."""
    return config_type in _CONFIG_MAP_TYPES or config_type == _ENV_FILE_TYPE


def _encoded(text: str) -> bytes:
    """Encode a text; a byte that is not UTF-8 (templates may split characters) stays as it is."""
    return text.encode("utf-8", "surrogateescape")


_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_EXPANDS = re.compile(r'["$`\\\n\r\0]')


def _config_map(texts: Mapping[str, str], namespace: str) -> str:
    """Return the ConfigMap `platform-config` as yaml.v2 writes it."""
    return goyaml.dump_v2(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "platform-config", "namespace": namespace},
            "data": dict(texts),
        }
    )


def _env_file(texts: Mapping[str, str]) -> str:
    """Return lines of `export KEY="VALUE"`, sorted bytewise, without escapes.

    Raises ManifestError for a value that a shell would expand or that would end the quotes; in
    upstream, such a value becomes a command.
    """
    lines = []
    for key, text in sorted(texts.items(), key=lambda item: item[0].encode()):
        if not _ENV_NAME.match(key):
            raise ManifestError(f"{key!r} cannot be the name of an environment variable")
        if _EXPANDS.search(text):
            raise ManifestError(
                f"the value of {key} contains a character that a shell would not take as text "
                '(one of " $ ` \\ or a line break)'
            )
        lines.append(f'export {key}="{text}"\n')
    return "".join(lines)
