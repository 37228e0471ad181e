"""Retransmission timer of the connection: reinjection on another subflow, and stale subflows.

Source: `__mptcp_retrans`, `mptcp_subflow_get_retrans` and `mptcp_pm_subflow_chk_stale` of Linux 6.18.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import MptcpP
from netcarlo.kernels.linux.state import NONE, Tcp
from netcarlo.kernels.mptcp import scheduler
from netcarlo.kernels.mptcp.state import Conn, Sub, fragment_end, is_backup, start_timer, subflow_at

MOST_STALE = 255
"""Limit of the count of periods without progress (U8_MAX)."""
_MANY = 1 << 30


@noinline
def on_timer(p: Any, m: Any, now: Any) -> None:
    """Process the retransmission timer of the connection (`__mptcp_retrans`)."""
    m[Conn.TIMER] = FOREVER
    path = get_retrans(p, m, now)
    if m[Conn.SND_UNA] < m[Conn.SND_NXT]:
        if path != NONE:
            s, end = m[subflow_at(path) :], min(fragment_end(p, m[Conn.SND_UNA]), m[Conn.SND_NXT])
            if m[Conn.PENDING] < m[Conn.SND_NXT]:  # a reinjection of all data has come so far
                end = min(end, m[Conn.PENDING])
            for dsn in range(m[Conn.SND_UNA], end):
                scheduler.append(p, m, s, np.int64(dsn))
    elif m[Conn.PENDING] >= m[Conn.WRITTEN]:
        return
    if m[Conn.TIMER] == FOREVER:
        start_timer(p, m, now)
    scheduler.push_pending(p, m, now)


@noinline
def get_retrans(p: Any, m: Any, now: Any) -> Any:
    """Return the path of an idle subflow, or NONE (`mptcp_subflow_get_retrans`).

    Subflows with outstanding data are examined for progress. A backup is chosen only if none made any.
    """
    pick, backup, least = np.int64(NONE), np.int64(NONE), np.int64(_MANY)
    for path in range(p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        if s[Sub.USABLE] != 0:
            if is_busy(s):
                check_stale(p, m, np.int64(path), now)
                least = min(least, s[Sub.STALE_COUNT])
            elif is_backup(p, path):
                backup = np.int64(path) if backup == NONE else backup
            elif pick == NONE:
                pick = np.int64(path)
    if pick == NONE and least > 1:
        pick = backup
    return pick


def is_busy(s: Any) -> Any:
    """Return True if a subflow has data to send or unacknowledged."""
    return s[Tcp.SND_UNA] <= s[Tcp.LAST]


@noinline
def check_stale(p: Any, m: Any, path: Any, now: Any) -> None:
    """Count a period without an ACK on a busy subflow; too many make it stale.

    Source: `mptcp_pm_subflow_chk_stale`.
    """
    s = m[subflow_at(path) :]
    if s[Sub.STALE_COUNT] == 0:
        s[Sub.STALE_STAMP] = s[Sub.RCV_STAMP]
        s[Sub.STALE_COUNT] = 1
    elif s[Sub.STALE_STAMP] == s[Sub.RCV_STAMP]:
        s[Sub.STALE_COUNT] = min(s[Sub.STALE_COUNT] + 1, np.int64(MOST_STALE))
        _mark_stale(p, m, path, now)
    else:
        s[Sub.STALE_COUNT] = 0
        s[Sub.STALE] = 0


def _mark_stale(p: Any, m: Any, path: Any, now: Any) -> None:
    """Mark a subflow stale and reinject all unacknowledged data if another subflow makes progress
    (`mptcp_pm_subflow_chk_stale`)."""
    s, count = m[subflow_at(path) :], p[MptcpP.STALE_LOSS_CNT]
    if s[Sub.STALE] != 0 or count == 0 or s[Sub.STALE_COUNT] <= count:
        return
    for other in range(p[MptcpP.SUBFLOWS]):
        o = m[subflow_at(other) :]
        if other != path and scheduler.is_active(o) and o[Sub.STALE_COUNT] < max(count - 1, 1):
            s[Sub.STALE] = 1
            m[Conn.STALES] += 1
            m[Conn.PENDING] = m[Conn.SND_UNA]
            scheduler.push_pending(p, m, now)
            return
