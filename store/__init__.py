"""One game kept: what cannot be lost, and how anybody can tell that nothing was altered.

Entries of a game's journal come in; they are numbered, sealed by a hash chain, and written to SQLite or PostgreSQL,
over restarts, full disks and servers that are away. Read back they are a game's history. Open `journal`
first, then `store`.
"""
