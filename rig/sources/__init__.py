"""Where pictures come from: cameras, streams, files, the twin; and the watch over those that are live."""
