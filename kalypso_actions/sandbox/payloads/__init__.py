"""The JSON of GitHub's responses and webhooks.

It has every field that GitHub's description requires, and those that GitHub always sends.
"""
