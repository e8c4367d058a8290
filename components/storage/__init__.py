"""What keeps data: buckets, file systems, volumes, databases."""

from components.storage.drivers import Drivers, DriversArgs
from components.storage.storage import Storage, StorageArgs

__all__ = ["Drivers", "DriversArgs", "Storage", "StorageArgs"]
