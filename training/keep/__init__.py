"""A trainer that lives on idle time: it traces tables into a folder and trains both networks on them without end.

`keeper` holds the folder and keeps its processes running: some trace tables and develop what webcams would see of
them (`tracing`), one learns (`learning`) and measures what it has learned (`validation`, `rows`). `folder` says where
everything lies; `progress` shows it.
"""
