"""GitHub: the rules for requests, branches and pull requests, and the API on top of them.

    @endpoint("GET", "/repos/{owner}/{repo}", "metadata: read", statuses=(200,))
    def read(call: Call) -> Answer:
        return Answer(200, simple_repository(call))

`rest` finds the endpoint of a request and checks its permission before the call.
"""
