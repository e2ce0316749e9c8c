"""`python -m burnish`."""

import signal

# Ctrl-C while modules are loaded ends it as it ends other programs, not with a traceback through imports.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from burnish.cli import main

if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
    signal.signal(signal.SIGINT, signal.default_int_handler)

main()
