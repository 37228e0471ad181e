"""What users write: YAML documents, units, quantities and random ones, checked records."""
