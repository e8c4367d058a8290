"""What keeps the bill in bounds: who is told, budgets, watches, schedules."""
