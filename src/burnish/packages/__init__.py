"""From a finished run to what can be installed, sent or built elsewhere: packages, provenance, checks of both."""
