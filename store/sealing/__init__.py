"""Seals: what makes a change to a kept game show.

`hash_chain` ties the entries of a journal, which are not signed one by one; `signing` is the rig's key. `signed_list`
ties games and devices in the store, `heads` keeps where they stood in a second place, both signed; and `signed_state`
signs files that are made of a journal.
"""
