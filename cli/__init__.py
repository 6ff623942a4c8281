"""The `downfield` command: one function for each sub-command, and what all of them print and read with.

In come arguments; out come lines, files and an exit status: 0, 1 for "checked, and something is wrong", 2 and one line
on standard error for what the user can mend. Open `main` first: its `COMMANDS` lists every command, each imported only
when it is used; the shell completion, the README's table and the tests follow from it.

- `as_module`: what `import downfield` and `python -m downfield` are.
- `console`: options, output, progress, and the end of a process in order; everything else imports it.
- `commands`: the sub-commands; `field_solving` solves a field as the command line of two of them describes it.
"""
