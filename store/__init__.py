"""Games kept: journals that nobody can alter unnoticed, in SQLite or PostgreSQL, and what is read back from them.

What enters: entries of a game in play (`writing.journals.StoredJournals`, which is what `downfield.game` asks of a
store), teams and paired devices (`writing.store.Store`). What leaves: a game read back without judging it again
(`history.History`), rows (`database.reader.StoreReader`), and what differs from what a rig has signed (`signed_lists`,
`signed_ends`).

Open `writing.store` first: tables and one `append`. Then `writing.journal`: an entry is numbered, sealed by a hash
chain and queued; threads bring it to the disk, so that a store may be seconds behind the feed, and says so
(`StoreProblem`). Where it does not accept entries, `writing.spool` keeps them on the rig's own disk.

Packages, in the order they import each other:

- `database`: engines, the schema, an SQLite file in use, rows, and a store opened to be read only;
- `sealing`: the hash chain, the rig's key, its signed list of games and devices, heads kept in a second place;
- `writing`: the store that is written, leases, the spool, the journals' threads, checkpoints, batches for a tournament;
- `signed_lists`, a store against its own lists and its rigs' signatures, `signed_ends`, against a tournament's record,
  and `history`, games read back, are modules of this package itself.
"""
