"""The sections of reports: a result comes in, sections of blocks go out; one module for each subject."""
