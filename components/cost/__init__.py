"""Cost controls: budgets, anomaly detection, scheduled scaling, and the estimate for the policy pack."""
