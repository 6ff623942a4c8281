"""Writing games: from an entry in play to the disk, over full disks, absent servers and restarts.

`journals` is what a game is given. `journal` numbers and seals entries and has the threads; `delivery` stores each
exactly once in a `store`, or keeps it in the `spool`. `lease` lets one program at a time go on with a rig's games,
`checkpoint` keeps what a game has become, and `replication` signs batches for a tournament.
"""
