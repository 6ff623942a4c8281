"""The tables of a hall: where their rigs are, and what each is doing now."""
