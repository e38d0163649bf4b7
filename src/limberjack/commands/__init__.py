"""The subcommands of `limberjack`, one module for each subject."""
