"""The space of a sweep: its cells by number, what each is, and which are drawn."""
