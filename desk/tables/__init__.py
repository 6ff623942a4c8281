"""The tables of a hall: watched by HTTP or through the broker, and the phones that may work at them."""
