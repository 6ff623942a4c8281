"""Every kind of frame source, opened by its name; open `source_opening`, then `source_types`, the list of schemes.

`cameras` are plugged in, `network_video` is RTSP and its like, `http_mjpeg` motion JPEG, `phone` a phone or WHIP,
`file_sources` videos, of the formats in `core.media.video_streams`, and folders, `scenes` another program's.
`reconnecting` opens a lost one again.
"""
