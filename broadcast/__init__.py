"""Everything on air: the painted program, replays, graphics, and the programs that are told of the game.

The game's published topics, frames and scenes come in; pictures, films, overlays' data and messages to OBS, vMix and
webhooks leave. Open `program.program_painter` first, then `replay.director` and `integrations.outlets`.
"""
