"""Pure calculations that decisions and views share."""
