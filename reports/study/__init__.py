"""The page of a study, and of a calibration."""
