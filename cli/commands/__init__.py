"""The sub-commands, one module each or for several of one idea; `downfield.cli.main.COMMANDS` is their list."""
