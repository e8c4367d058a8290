"""The whole program without an engine: what it would ask of the engine, as files a reviewer can read and compare."""
