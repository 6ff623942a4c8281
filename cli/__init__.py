"""The `downfield` command: one module for each sub-command, and what all of them print and read with (`console`).

Open `main` first: it lists every command, each imported only when it is used.
"""
