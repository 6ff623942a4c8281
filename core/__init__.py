"""The words that everything speaks: errors, records, the field, footprints, scenes, detections.

Nothing enters but values and files; records, checked numbers and sentences for people leave. Open `scene` first (what
is seen at one instant), then `footprint` (the outline of a base and the gap between two), `field.model` (the printed
field: millimeters and yards) and `errors` (the one exception tree). Lengths on the board are millimeters, spots are
field yards, headings degrees counter-clockwise, times integer nanoseconds.

`texts` makes sentences for people. Packages, each of which knows only those before it:

    platform    what differs between operating systems: clocks, locks, priorities, child processes
    files       reading untrusted files and writing private ones
    field       the printed field: model, limits, presets, painted lines
    media       pictures and video: files, streams, sizes that are refused
"""
