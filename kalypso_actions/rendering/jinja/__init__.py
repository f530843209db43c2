"""Manifests written in Jinja2, for Templates annotated `kalypso.io/engine: jinja2`.

    manifest = manifests.JinjaManifest("name: {{ Workload | tojson }}")
    manifest.render(data)  # a `TemplateData`; raises ManifestError with the line

`syntax` checks a template before anything runs, and inserts calls of the meter; `sandbox` bounds
what a template may reach, call and compute; `meter` counts one rendering.
"""
