"""What a rig keeps of its games, and what leaves it.

`kept_games` opens its store and its key; `table_seals` seals recordings, `bundle_export` writes bundles for
others. `contribution` collects frames for the training of networks, anonymous, and `contribution_file` is their file.
"""
