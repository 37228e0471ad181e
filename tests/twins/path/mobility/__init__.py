"""Twin of the mobile host: its movement, its signalling, and the routes of its packets.

`NEVER` is the time of an event that does not occur; times computed from it do not occur either.
"""

import math

NEVER = math.inf

Time = float  # [ns]; an int, or NEVER
