"""What is measured, what raises an alarm, and what a dashboard shows: as code, apart from the charts that run it."""
