"""Updates the catalog's prices from AWS's price list (`slipway prices refresh`); needs AWS credentials."""
