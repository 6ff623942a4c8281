"""Everything on air: the painted program, instant replays, graphics, overlays, and programs that are told of the game.

What enters: the game's published topics (`downfield.game.published`), the camera's frames and scenes, and the evidence
of calls (`downfield.review`). What leaves: the program's pictures and video, films of replays and highlights, cards and
logos, the overlays' declarations, scripts and styles, and messages to OBS, vMix, MQTT and webhooks. Nothing here
changes a game, and whatever fails here ends none.

Open `program.program_painter` first, then `replay.director`, `overlays.installed` and `integrations.outlets`.

`latest_picture` carries pictures to whoever watches, `cards` is what the cards say, `logos` those of teams and
sponsors. Packages, each importing only from those before it:

- `program`: the camera's picture with graphics on the board, under the figures; encoded in a process of its own.
- `replay`: instant replays of calls and films of highlights. Judging a game again is `downfield.review.rejudging`.
- `overlays`: the overlays for OBS, those of other packages as well.
- `integrations`: OBS, webhooks, MQTT, files for mixers, captions.
"""
