"""The service: pages, API, live feed and pictures over HTTP, and who may use them.

What enters: requests of browsers, phones and programs, and the parts of a rig (`context.context.RigParts`). What
leaves: answers, event streams, pages, and commands to `downfield.game.service`. What is served is made elsewhere:
games by `game` and `store`, disputes by `review`, what is on air by `broadcast`.

Open `app` first, which puts everything together, then `context.context`, all that endpoints use, and
`context.access_control`, who sent a request and whether they may. `openapi` describes the service, `table_setup` is
what a rig provides for the set-up in the browser, and `label_review` a page for whoever trains a network.

Packages, each importing only from those before it:

- `http`: errors as problem details, what requests may hold, addresses of this computer.
- `security`: roles, tokens, grants, limits of rate and connections, the middleware that every request passes.
- `feed`: event streams, how many may be open, and the process that takes over when there are many.
- `context`: the one object that the endpoints use, and access control.
- `routes`: the endpoints.

`pages` holds the pages as they are served, with no build step; `routes.pages` is their one list.
"""
