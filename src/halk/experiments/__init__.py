"""The paper's experiments and ours: runs, claims, and a report."""

EXPERIMENTS = {
    "random-field": "halk.experiments.random_field:RandomFieldExperiment",
    "temperature": "halk.experiments.ocean:Temperature",
    "salinity": "halk.experiments.ocean:Salinity",
    "fill-in": "halk.experiments.fill_in:FillIn",
    "theory": "halk.experiments.theory:Theory",
}
"""Every experiment by name, and where it is."""
