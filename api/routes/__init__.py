"""The endpoints by subject, each declared with the role that it takes (`context.access_control.AuthorizedRouter`).

What people say of the game in play, declarations and rulings on its calls, is in `play`, its teams and rulebooks in
`setup`, its camera in `table_setup`. Games that are kept: `games` first, which knows a game by its id, then `rulings`
and challenges, `evidence`, `files`. On air: `streams` and `on_air`. The service itself: `pages`, `pairing`, `health`.

Who may rule is declared in `play` for the game in play. On finished games it is `reviewer` in `api.context.context`, on
an appeal `check_decider` in `game.records.challenges`.
"""
