"""Where pictures come from and where they are kept: cameras, streams, files and folders, and their recording.

Frames leave with the time of their capture (`sources.source.CapturedFrame`); what was recorded is found again by frame
(`footage`). Open `sources.source` first, then `sources.source_opening` and `recording.recorder`.
"""
