"""The world: the only room of the core that touches it, one small file each."""
