"""Find gaps in an existing set-up: facts about its repositories → checks, each with advice.

checks = [*repositories.access_checks(name, facts, by_app=True)]
problems = [check.text for check in checks if check.state == "problem"]
"""
