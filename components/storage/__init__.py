"""What keeps data: buckets, file systems, volumes, databases."""

from components.storage.storage import Storage, StorageArgs

__all__ = ["Storage", "StorageArgs"]
