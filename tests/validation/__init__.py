"""The validation report: what a run of the tests shows of every physical model and of every promise."""
