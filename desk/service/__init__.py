"""The desk's web service: tables, event, what is sent to tables, and phones."""
