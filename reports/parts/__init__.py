"""What all pages share: figures, tables, scales and words."""
