"""The JSON of GitHub's responses and webhooks.

It has every field that GitHub's description requires, and every field that GitHub always sends.
"""
