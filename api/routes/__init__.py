"""The endpoints by subject: `review` knows a game by its id; `broadcast`, `table` and `service` may use it.

Each is marked with the role that it takes (`security.roles.allow`). What people say of the game in play, declarations
and rulings on its calls, is in `table.play`; rulings on games that are over in `review.rulings`.
"""
