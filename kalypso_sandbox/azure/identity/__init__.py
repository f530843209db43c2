"""Authentication of requests to Azure.

jwt                signed tokens and assertions
github_oidc        GitHub's OIDC endpoint: the identity of a job
entra              Microsoft Entra's token endpoint: assertions and secrets → access tokens
managed_identity   the endpoint of a managed identity on Azure's own machines
access_tokens      access tokens, and their refusals
"""
