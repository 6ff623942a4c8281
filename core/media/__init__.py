"""Pictures and video: files, streams, limits, pictures shared between processes.

`video_streams` lists the formats that are accepted, and opens them.
"""
