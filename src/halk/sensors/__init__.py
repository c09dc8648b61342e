"""The operator's workflow: fit a network of sensors, fill its gaps, look ahead."""
