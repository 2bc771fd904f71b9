"""Sessions that a team keeps in PostgreSQL: the database is the truth, and the log of the workspace on this machine a copy to work with."""
