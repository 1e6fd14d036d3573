"""``python -m forks_cli`` is ``forks``."""

import sys

from forks_cli.entry import main

sys.exit(main())
