"""What users write: the schema of an intent, and its loading with errors that name file, line and column."""
