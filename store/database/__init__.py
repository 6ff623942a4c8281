"""Databases of stores: how they are opened and what is in them.

`engines` connects to a file or server, `schema` has the tables, `reader` reads rows; `sqlite_file` watches over a file
in use, and `opening` reads one that a rig may be writing, or left behind, without changing a byte.
"""
