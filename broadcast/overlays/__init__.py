"""The overlays for OBS: each a declaration `NAME.overlay.toml`, a script `NAME.js` and a style `NAME.css`.

Open `installed`, which finds them, those of other packages as well; docs/extend.md says how to add one. Their data are
the topics that each declaration names, published by `downfield.game.published` and followed by
`api/pages/assets/overlay.js` on the feed of `api/routes/streams.py`.
"""
