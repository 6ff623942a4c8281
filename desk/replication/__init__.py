"""The tournament's side: the store of all tables' games, and who receives their journals."""
