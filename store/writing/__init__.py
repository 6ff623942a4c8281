"""Writing games: from an entry in play to the disk, over full disks, absent servers and restarts.

`journals` is what a game is given, and keeps what a game has become. `journal` numbers and seals entries, and has the
threads that store each exactly once in a `store`, or keep it in the `spool`. `lease`, which `rig/games/kept_games.py`
takes, lets one program at a time go on with a rig's games, while other rigs share the store; and `replication` signs
batches for a tournament.
"""
