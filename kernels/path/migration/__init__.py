"""An association over two paths that sends over one of them at a time."""
