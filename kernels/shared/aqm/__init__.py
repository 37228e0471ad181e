"""Active queue management of links: CoDel, PIE and FQ-CoDel."""
