"""Settings of a PostgreSQL database on RDS, for an add-on that needs one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.base import Model


class Database(Model):
    """One instance, reachable from the cluster's nodes alone."""

    instance_class: Annotated[str, StringConstraints(pattern=r"^db\.[a-z0-9-]+\.[a-z0-9]+$")] = "db.t4g.medium"
    """Machine; the class needs to be offered for PostgreSQL in the region."""
    allocated_storage: Annotated[int, Field(ge=20, le=59578)] = 20
    """Storage at the start, in GiB: gp3 has 20 to 65,536 (botocore 1.44.5, rds CreateDBInstance, `AllocatedStorage`),
    and it has to be able to grow by a tenth."""
    max_allocated_storage: Annotated[int, Field(ge=22, le=65536)] = 100
    """How far the storage may grow by itself, in GiB: a tenth more at least."""
    multi_az: bool = False
    """Keep a standby in another zone, which takes over within one to two minutes (awsi.click, "How Many Seconds Does an
    RDS Failover Take", read 2026-11); twice the price."""
    backup_retention_period: Annotated[int, Field(ge=1, le=35)] = 7
    """Days over which it can be restored to any second, 35 at most (botocore 1.44.5, rds `BackupRetentionPeriod`)."""
    deletion_protection: bool = False
    """RDS refuses to delete it until this is switched off."""
    final_snapshot: bool = True
    """Take a last snapshot when it is deleted."""
