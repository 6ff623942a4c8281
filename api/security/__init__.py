"""Access to the service: roles, tokens, authentication, request checks, rate limits."""
