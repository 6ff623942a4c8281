"""Training runs, resumable over any number of sittings.

`trainer` trains the bundled network's parts one by one, by samples. `pair_run` and `refiner_run` train by the clock,
with `network_training` (one network, its pool of samples) and `turns` (several networks on one device); `pack` carries
such a run to another computer. `own_table` adapts the figure refiner to one table in minutes.
"""
