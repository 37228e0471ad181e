"""Active queue management that several kinds of networks share: CoDel and FQ-CoDel."""
