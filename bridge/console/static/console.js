// The page of the console: Open MCT with the telemetry of one engine.
