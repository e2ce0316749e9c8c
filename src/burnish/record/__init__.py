"""A study's append-only record, and the store of builds, profiles and other results that several studies use."""
