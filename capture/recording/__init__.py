"""Recordings: the camera's own packets in files of a minute, each with an exact index, and reading frames from them."""
