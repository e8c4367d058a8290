"""Settings of a PostgreSQL database on RDS, for an add-on that needs one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from spec.settings.base import Model
from spec.settings.patterns import pattern


class Database(Model):
    """One PostgreSQL instance, reachable only from the cluster's nodes."""

    instance_class: Annotated[
        str,
        pattern(
            r"^db\.[a-z0-9-]+\.[a-z0-9]+$",
            rule="a database needs an instance class of RDS, not an EC2 instance type",
            fix="Write it like db.t4g.medium.",
        ),
    ] = "db.t4g.medium"
    """Instance class; RDS must offer it for PostgreSQL in the region."""
    allocated_storage: Annotated[int, Field(ge=20, le=59578)] = 20
    """Initial storage, in GiB: gp3 has 20 to 65,536 (botocore 1.44.5, rds CreateDBInstance, `AllocatedStorage`), and
    it must be able to grow by a tenth."""
    max_allocated_storage: Annotated[int, Field(ge=22, le=65536)] = 100
    """Maximum storage for autoscaling, in GiB: at least a tenth more than `allocatedStorage`."""
    multi_az: bool = False
    """Keep a standby in another zone, with a failover within one to two minutes (awsi.click, "How Many Seconds Does an
    RDS Failover Take", read 2026-11); it doubles the price."""
    backup_retention_period: Annotated[int, Field(ge=1, le=35)] = 7
    """Days of point-in-time recovery, at most 35 (botocore 1.44.5, rds `BackupRetentionPeriod`)."""
    deletion_protection: bool = False
    """RDS refuses to delete it until this is switched off."""
    final_snapshot: bool = True
    """Take a final snapshot on deletion."""
