"""Who may do what: roles, tokens, authentication, rate limits."""
