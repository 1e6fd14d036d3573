"""`python -m forks_core.system.standin` is the stand-in."""

import sys

from forks_core.system.standin.program import main

sys.exit(main())
