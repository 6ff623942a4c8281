"""What a game is made of on paper: the entries of its journal, commands, owners, and the protocol of keeping.

`entries` lists every kind of entry and how it is read; `keeping` is what a game asks of a store.
"""
