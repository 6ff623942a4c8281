"""Every kind of frame source, opened by its name: cameras, network streams, videos, folders of pictures, the twin."""
