"""Who a visitor is, and in which order visitors' requests are computed."""
