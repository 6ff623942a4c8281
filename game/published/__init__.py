"""A game as others see it: topics as models, and the hub that sends each change to every subscriber.

`game_topics`, `board_topics` and `stream_topics` are the models, of which `docs/service.md` is made;
`views` makes them of a game, and `plays` its plays; `publisher` publishes what changed; `hub` keeps and sends it.
"""
