"""Field reports: what happened to people who ran the client at scale, each as a case to conclude."""
