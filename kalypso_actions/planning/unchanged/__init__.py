"""Render only the assignments whose inputs have changed since the base tree was written.

    rendered = render_changed(snapshot, fleet, assignments, layout, make_renderer, progress, ...)
    rendered.planned, rendered.folders, rendered.taken_over

`same_inputs` finds the folders whose inputs have the same digests as in the base trees, and
`assignments` renders the others.
"""
