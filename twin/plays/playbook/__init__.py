"""The named plays, each with the calls that every rulebook must and must not make of it; and random ones.

Open `index` for all names, `common` for what they share. A play's docstring tells what happens in it. The demonstration
(`demo`) is the recording that `downfield run` shows until a camera is attached.
"""
