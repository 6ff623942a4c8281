"""The evidence of calls and plays; open `finder`, which finds it, or `call_viewer`, which draws it."""
