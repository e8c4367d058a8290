"""The catalog's prices from AWS's own price list, for those who have credentials (`slipway prices refresh`)."""
