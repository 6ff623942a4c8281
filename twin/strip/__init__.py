"""The twin of a playing strip with its slide and dials: pictures and filmed games with exact truth.

`state` is how a strip stands and `look` how it is drawn; `game` plays cards by the rulebook's own engine; `film` and
`clip` make pictures and clips of it.
"""
