"""Journals of all tables into one database, the results in them into the event, and the broker between."""
