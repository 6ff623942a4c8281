"""The endpoints by subject, each declared with the role that it takes (`context.access_control.AuthorizedRouter`).

What people say of the game in play, declarations and rulings on its calls, is in `play`, its teams and rulebooks in
`setup`, its camera in `table_setup`. Games that are kept: `games` first, which knows a game by its id, then `plays`,
`evidence`, `clips`, `reports`, `rulings`, `challenges`. On air: `feed`, `program`, `graphics`, `replay`. The service
itself: `pages`, `pairing`, `health`.
"""
