"""Parts that all pages share: figures, tables, scales and wording."""
