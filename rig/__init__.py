"""A rig: one camera over one table, refereed live, with its pages, its store and its place in a tournament.

In comes the configuration (`downfield.toml`, the environment, the command line); frames come from `capture`. Out go
scenes and declarations into a game (`game.service.GameService`), the journal that the store keeps, recordings, the web
pages, and the rig's health as the topic ``health``. Open `rig` first: it puts everything together in the order of its
use, and closes it in the opposite order; then `live.loop`, where every frame goes.

Packages, each of which imports only from those before it:

- `configuration`: the settings, where each value comes from, and how they are shown without what is secret.
- `live`: the loop of five threads, the stages and observers in it, and the rig's health.
- `tables`: a table set up on a page (aim, find the field, read it, save), its source opened, its camera calibrated.
- `games`: the store and the keys of a rig's games, seals, bundles, and what is contributed of them for training.
- `service`: the web service in its thread, with its certificate, and the review without a camera.
- `tournament`: the link to a tournament's broker: the journal, the feed, and what the desk sends.
- `upkeep`: checks of everything that a game needs, with a remedy for each fault; backup, log, support file, systemd.

`rig`, `scorekeeper` (a game without a camera) and `controller` (what the panel commands) stand above them all.
"""
