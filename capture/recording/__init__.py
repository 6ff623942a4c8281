"""The recording of a camera.

`recorder` writes what arrives in files (`segment`) and stops when the disk is full; `recording_library` finds and
prunes them, `segment` seals them by their digests, and `frame_reader` and `recorded_footage` read frames back.
`recording_settings` is what a rig's owner sets, and `detection_cache` keeps detections of interrupted work.
"""
