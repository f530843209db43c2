"""The JSON shapes of GitHub's answers and webhooks, each built by a small function.

Every field that GitHub's description requires is there, and those that GitHub always sends.
"""
