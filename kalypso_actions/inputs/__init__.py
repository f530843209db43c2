"""The inputs of each command: a model checks them before the command reads anything.

inputs = checked_inputs(RenderInputs, {"environment": "dev", "base-commit": "main"})
inputs.namespace_scheme  # "current"
"""
