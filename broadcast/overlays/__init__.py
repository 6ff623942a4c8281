"""The overlays for OBS: each a declaration `NAME.overlay.toml`, a script `NAME.js` and a style `NAME.css`.

Open `installed`, which finds them, those of other packages as well; docs/extend.md says how to add one.
"""
