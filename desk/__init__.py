"""Many tables: the director's desk, the event that is played over them, and the archive of their games.

In come feeds and journals of rigs, by the tournament's broker or from each rig by HTTP; out go games, teams, schedule
and grants to the tables, and the pages of the desk, the hall and the phones. Nothing here referees. Open
`service.app` first, then `tables.rig_client` and `replication.desk_tournament`.

Packages, each of which imports only from those before it:

- `event`: entrants, pools, brackets, schedule, standings; pure.
- `tables`: the tables that are watched, and what each is doing.
- `replication`: journals of all tables into one PostgreSQL, and results out of them.
- `service`: the desk's web service.
- `archive`: games of many tables, found by conditions and judged or tracked again on a cluster (Ray).
"""
