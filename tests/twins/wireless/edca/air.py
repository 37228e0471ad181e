"""Durations of the frames of EDCA [ns]."""

from tests.twins.wireless.frames import CTS_BYTES, RTS_BYTES, AirTimes

ACK_BYTES = 14
BAR_BYTES = 24
CF_END_BYTES = 20


class EdcaAirTimes(AirTimes):
    def rts_rate(self, data_rate: int) -> int:
        """Return the rate of RTS and CTS before data of this rate."""
        return int(self.radio.RTS_RATE if self.radio.RTS_RATE >= 0 else self.rates[data_rate].ANSWER)

    def rts(self, data_rate: int) -> int:
        return self.of(RTS_BYTES, self.rts_rate(data_rate))

    def cts(self, data_rate: int) -> int:
        return self.of(CTS_BYTES, self.rts_rate(data_rate))

    def ack(self, data_rate: int) -> int:
        return self.of(ACK_BYTES, self.rates[data_rate].ANSWER)

    def block_ack(self, size: int, data_rate: int) -> int:
        return self.of(size, self.rates[data_rate].ANSWER)

    def request(self, data_rate: int) -> int:
        """Return the time of a BlockAckReq."""
        return self.of(BAR_BYTES, self.rates[data_rate].ANSWER)

    def cf_end(self) -> int:
        return self.of(CF_END_BYTES, self.radio.CF_END_RATE)
