"""The core of forks: pure inside, the world only in `system`."""
