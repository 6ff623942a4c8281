"""The program feed as the service sees it: what can be switched, and where its pictures come from."""
