"""Access to the service.

`access` has the roles, the addresses that may reach the service and how often; `tokens` the pairing codes and tokens of
devices; `grants` what a tournament's desk signs for a phone; `secret_file` the admin's key. `forwarding` tells where a
request comes from, `connections` limits what each address may hold open, and `middleware` is what every request passes.
"""
