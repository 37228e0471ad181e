"""Active queue management of a link: CoDel, PIE and FQ-CoDel decide what leaves, and when it is dropped."""
