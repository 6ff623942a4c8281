"""An event: entrants, pools, brackets, schedule and standings; without network and files, but for `keeper`.

`state` is the event as it stands, `operations` what a director does to it, and `outcomes` how its matches came out. Of
these follow `brackets` and `swiss` (who meets whom), `schedule`, `progress` (who goes on) and `standings`.
"""
