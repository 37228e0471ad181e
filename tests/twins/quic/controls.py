"""Congestion controls: NewReno (RFC 9002, section 7) and CUBIC (RFC 9438)."""

MOST_OFFSET = 2**18


class HyStart:
    """HyStart++ (RFC 9406, 4.2) of one slow start; rounds are lists of RTT samples."""

    def __init__(self, *, paced: bool) -> None:
        self.paced = paced
        self.round: list[int] = []
        self.earlier: list[int] = []
        self.last_number = 0  # of this round
        self.conservative_rounds = 0
        self.baseline = 0

    def growth(self, size: int, datagram: int) -> int:
        most = size if self.paced else min(size, 8 * datagram)
        return most // 4 if self.conservative_rounds else most

    def ends(self, rtt: int | None, largest_acked: int, next_number: int) -> bool:
        """Process an ACK; return True if congestion avoidance begins."""
        if rtt is not None:
            self.round.append(rtt)
        if len(self.round) >= 8:
            if self.conservative_rounds:
                if min(self.round) < self.baseline:
                    self.conservative_rounds = 0
            elif self.earlier:
                before = min(self.earlier)
                if min(self.round) - before >= sorted((4_000_000, before // 8, 16_000_000))[1]:
                    self.conservative_rounds, self.baseline = 1, min(self.round)
        if largest_acked < self.last_number:
            return False
        over = self.conservative_rounds == 5
        self.conservative_rounds += self.conservative_rounds > 0
        self.earlier, self.round, self.last_number = self.round, [], next_number - 1
        return over


class NewReno:
    """Windows in bytes; `size` is that of a full datagram."""

    def __init__(self, window: int, size: int) -> None:
        self.window = window
        self.size = size
        self.threshold: int | None = None
        self.carry = 0
        self.hystart: HyStart | None = None

    @property
    def slow_start(self) -> bool:
        return self.threshold is None or self.window < self.threshold

    def acknowledged(self, size: int, now: int, rtt: int) -> None:
        if self.slow_start:
            self.window += self.hystart.growth(size, self.size) if self.hystart else size
        else:
            self.avoid(size, now, rtt)

    def avoid(self, size: int, now: int, rtt: int) -> None:
        """Increase the window by one datagram per acknowledged window."""
        packets, self.carry = divmod(self.carry + size, self.window)
        self.window += packets * self.size

    def left(self) -> int:
        """Return the window after a loss [bytes]."""
        return self.window // 2

    def lost(self) -> None:
        self.hystart = None
        self.threshold = max(self.left(), 2 * self.size)
        self.window = self.threshold
        self.carry = 0

    def collapse(self) -> None:
        self.window = 2 * self.size
        self.carry = 0


class Cubic(NewReno):
    """CUBIC: W(t) = C (t - K)^3 + W_max, with t and K in s / 1024."""

    def __init__(self, window: int, size: int) -> None:
        super().__init__(window, size)
        self.plateau = 0
        self.before = 0
        self.since: int | None = None
        self.time_to_plateau = 0
        self.reno = self.reno_carry = 0

    def left(self) -> int:
        self.before = self.window
        self.plateau = self.window if self.window >= self.plateau else self.window * 17 // 20
        self.since = None
        return self.window * 7 // 10

    def collapse(self) -> None:
        super().collapse()
        self.plateau, self.since = 0, None

    def begin(self, now: int) -> None:
        self.since = now
        self.plateau = max(self.plateau, self.window)
        self.reno, self.reno_carry = self.window, 0
        cube = (self.plateau - self.window) * 1024 // self.size * (2**30 // 410)
        root = round(cube ** (1 / 3))
        while root**3 > cube:
            root -= 1
        while (root + 1) ** 3 <= cube:
            root += 1
        self.time_to_plateau = min(root, MOST_OFFSET - 1)

    def at(self, elapsed: int) -> int:
        """Return W(t) [bytes], `elapsed` [ns] after the start of congestion avoidance."""
        offset = elapsed * 1024 // 10**9 - self.time_to_plateau
        packets = 410 * min(abs(offset), MOST_OFFSET) ** 3 // 2**30  # in 1/1024
        change = packets * self.size // 1024
        return self.plateau + (change if offset >= 0 else -change)

    def avoid(self, size: int, now: int, rtt: int) -> None:
        if self.since is None:
            self.begin(now)
        assert self.since is not None
        numerator, denominator = (9, 17) if self.reno < self.before else (1, 1)
        more, self.reno_carry = divmod(
            self.reno_carry + numerator * size * self.size, denominator * self.window
        )
        self.reno += more
        if self.at(now - self.since) < self.reno:
            self.window, self.carry = max(self.window, self.reno), 0
            return
        target = sorted((self.window, self.at(now - self.since + rtt), self.window + self.window // 2))[1]
        more, self.carry = divmod(self.carry + (target - self.window) * size, self.window)
        self.window += more
