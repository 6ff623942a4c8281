"""Where pictures come from and where they are kept: cameras, streams, files and folders, and their recording.

In comes the name of a source; out come frames with the time of their capture (`source.CapturedFrame`), and recordings
that are found again by frame (`footage`). Open `source` first: the seam that every source fills and every observer of
frames sees; then `sources.source_opening` and `recording.recorder`.

`source`, `jpeg`, `footage` and `problems` come first; then the packages, each of which imports only from those before:

- `recording`: copies a camera's packets into files with an index of times, seals and prunes them, reads them back.
- `sources`: every kind of source, the cameras plugged into this computer with what their controls are held at, and
  `reconnecting`, which opens a lost source again.
"""
