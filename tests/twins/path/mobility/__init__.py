"""The naive mobile host: when it moves, what it signals, which way its packets go.

`NEVER` is the time of what does not happen; whatever is computed from it does not happen either.
"""

import math

NEVER = math.inf

Time = float  # [ns]; an int, or NEVER
