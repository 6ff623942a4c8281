"""Games judged again in a thread of their own (`worker`); open `rejudging` first."""
