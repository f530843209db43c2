"""Clients of other programs and servers, and of the folders of this machine."""
