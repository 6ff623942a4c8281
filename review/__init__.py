"""Disputes: games read back from the store, the evidence of calls, games judged again, reports and bundles.

What enters: a game's journal (`downfield.store`) and its recorded frames (`downfield.capture`). What leaves: pictures
and measurements of a call, lists of games and plays, what a ruling or another rulebook would change, reports, tables of
tracks, clips, and signed bundles. Nothing is judged by rules of its own: `rejudging` runs the engine of
`downfield.officiating` on the journal's events. Only `rejudging.finished_games` writes: rulings on a game that is over.

Open `evidence.finder` first, which turns a call's id into its pictures and measurements, then `rejudging.rejudging`.

Packages, each importing only from those before it:

- `pictures`: places on the board in pictures, drawings, views from above, measuring, thumbnails, clips.
- `evidence`: the frames and measurements of a call or a play, and the files made of them.
- `rejudging`: games judged again, for rulings after a game and for other rulebooks.
- `reports`: what is printed about a game.
- `bundles`: a game as one signed file: written, verified, unpacked.

`catalog` lists games and their plays, and `tracks` has their figures as tables; both use `pictures` alone.
`zip_container` writes and reads zip files piece by piece, for `bundles` and for whoever else makes one.
"""
