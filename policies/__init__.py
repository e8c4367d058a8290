"""The CrossGuard pack: what no stack may do, checked by the engine at preview and update, offline or not."""
