"""PHY of 802.11n, ac, ax and be: tables of the standards, and durations that follow from them."""
