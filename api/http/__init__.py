"""Plain HTTP: problem details, what requests may hold, requests that are sent again, the addresses of this computer."""
