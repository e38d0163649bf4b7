"""FMI: models as FMUs for other tools (`export`), and other tools' FMUs in a simulation (`controller`)."""
