"""Storage: buckets, file systems, volumes, databases, image repositories."""

from components.storage.drivers import Drivers, DriversArgs
from components.storage.storage import Storage, StorageArgs

__all__ = ["Drivers", "DriversArgs", "Storage", "StorageArgs"]
