"""Who pays: the cost of a replay or of recorded series, split by team, project and job, to the cent."""
