"""The evidence of calls and plays; open `finder`, which finds it, or `call_viewer`, which draws it.

`exports` cuts clips and pictures of it to send to others, and `pictures.clips` encodes them.
"""
