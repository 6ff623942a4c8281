"""One game in play: what happens at the table goes in, and receipts, topics and a journal come out.

What enters: scenes from the rig (`GameService.take`), declarations, rulings and undos from people (`declare`, `rule`,
`undo`), commands (`command`), challenges and signatures (`Disputes`). What leaves: a receipt for each submission, the
topics of the feed (`published.hub`), and the entries of the game's journal, which whoever keeps it is handed
(`records.keeping.Journals`; `downfield.store` is the one there is). Nothing here touches a disk, a socket or a camera.

Open `service` first: one lock, one game at a time. `session` is that game: an entry is judged (`officiating`), then
published, then on its way to the disk, so that the feed never waits for a disk. A start is in `session_start`, as is a
resumed game, whose journal is judged once more.

Packages, in the order they import each other:

- `records`: what a journal holds (`records.entries`; `session` says when), commands, owners, and what a game needs of
  whoever keeps it;
- `published`: the topics as models, how a game becomes them, and the hub that hands them to subscribers;
- the modules of this package: the game in play;
- `strip`: the strip of a card game, read by the camera and followed beside the game.
"""
