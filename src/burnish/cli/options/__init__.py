"""Every argument and option of the command line, by subject."""

from burnish.cli.options.arguments import *  # noqa: F403
from burnish.cli.options.particular import *  # noqa: F403
from burnish.cli.options.shared import *  # noqa: F403
