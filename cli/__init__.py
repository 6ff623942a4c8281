"""The `downfield` command: one function for each sub-command, and what all of them print and read with.

In come arguments; out come lines, files and an exit status: 0, 1 for "checked, and something is wrong", 2 and one line
on standard error for what the user can mend. Open `main` first: its `COMMANDS` lists every command, each imported only
when it is used; the shell completion, the README's table and the tests follow from it.

- `console`: options, output, progress, and the end of a process in order; everything else imports it.
- `recordings`: track and judge videos.
- `tables`: calibrate, certify, and the list of tables.
- `disputes`: export, review, verify, shadow.
- `play`: run, demo, score, and the rules.
- `upkeep`: doctor, config, support, logs, service, backup, admin key, contributions.
- `desk`: the director's desk, its broker, and the archive.
"""
