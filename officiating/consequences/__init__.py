"""What calls and declarations do to the game in every rulebook: downs, points, periods, the switch, dice and choices.

`declaration_handlers.py` has the handlers that all rulebooks share and the words of a refusal, `downs.py` the
consequences of calls. A rulebook's `system.py` chooses among them and adds its own.
"""
