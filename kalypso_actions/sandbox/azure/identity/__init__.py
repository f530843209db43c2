"""Who asks Azure, and how it knows.

jwt         signed claims, as tokens and assertions are
github      the OIDC endpoint of a job: who the job is
entra       Microsoft Entra's token endpoint: assertions and secrets → access tokens
managed     the endpoint of a managed identity on Azure's own machines
access      access tokens, and what they open
"""
