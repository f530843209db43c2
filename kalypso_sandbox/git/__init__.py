"""Bare git repositories, and git over HTTP.

    bare = BareRepository(folder / "fleet.git", programs)
    bare.create("main")
    bare.commit_files("main", {"README.md": "Fleet"}, "Start", person)

git itself serves fetches; the sandbox reads loose objects and receives pushes itself, for speed.
"""
