"""The endpoints by subject: `review` knows a game by its id; `broadcast`, `table` and `service` may use it."""
