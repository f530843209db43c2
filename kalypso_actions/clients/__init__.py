"""The doors to the outside: programs, git, folders."""
