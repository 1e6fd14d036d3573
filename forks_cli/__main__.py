"""``python -m forks_cli`` is ``forks``."""

import sys

from forks_cli.main import main

sys.exit(main())
