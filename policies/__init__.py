"""The CrossGuard policy pack, evaluated by the engine at every preview and update, in the sandbox and on AWS."""
