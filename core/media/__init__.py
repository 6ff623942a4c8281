"""Pictures and video: files, streams, limits, pictures shared between processes."""
