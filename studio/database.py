"""The database under the store: its tables, its transactions, and its troubles in a sentence."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import RLock
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

SCHEMA_VERSION = 1
MAX_NAME, MAX_NOTE = 120, 500  # characters

_metadata = sa.MetaData()
_schema = sa.Table(
    "schema_version",
    _metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)
workspaces = sa.Table(
    "workspaces",
    _metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(MAX_NAME), nullable=False),
    sa.Column("note", sa.String(MAX_NOTE), nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created", sa.String(40), nullable=False),  # ISO 8601: the same in every database
    sa.Column("updated", sa.String(40), nullable=False),
    sa.Column("settings", sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb"), nullable=False),
)
blobs = sa.Table(
    "blobs",
    _metadata,
    sa.Column("workspace", sa.ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("ref", sa.String(80), primary_key=True),
    sa.Column(
        "data", sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb"), nullable=False
    ),
)


class StoreUnavailable(RuntimeError):
    """The database cannot do it now; the message is a sentence for the user."""


class Database:
    """Run transactions on an engine. Safe for threads and processes."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.in_memory = isinstance(engine.pool, StaticPool)
        # In memory all threads share one connection, and a connection has one transaction.
        self._turn = RLock() if self.in_memory else nullcontext()

    @classmethod
    def open(cls, url: str | None = None) -> Database:
        """Open the URL: by default CSMD_DATABASE_URL, else SQLite in the folder CSMD_DATA."""
        try:
            database = cls(_engine(url or os.environ.get("CSMD_DATABASE_URL") or _default_url()))
        except (SQLAlchemyError, ImportError, OSError, ValueError) as error:
            raise _unavailable(error) from error
        database._prepare()
        return database

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sa.Connection]:
        """Do all or nothing; what the database says in its own words becomes a sentence."""
        engine = self.engine.execution_options(write=write)
        try:
            with self._turn, engine.begin() as tx:
                yield tx
        except SQLAlchemyError as error:
            raise _unavailable(error) from error

    def scrub(self) -> None:
        """Take what was deleted out of SQLite's log too; inside the database it is zeroed."""
        self._run_alone("PRAGMA wal_checkpoint(TRUNCATE)")

    def _prepare(self, n_tries: int = 3) -> None:
        """Create the tables on first use; another process may be doing the same."""
        try:
            self._run_alone("PRAGMA journal_mode=WAL")
            with self.transaction(write=True) as tx:
                _metadata.create_all(tx)
                version = _version(tx)
        except StoreUnavailable:
            if n_tries == 1:
                raise
            time.sleep(0.05)
            return self._prepare(n_tries - 1)
        if version != SCHEMA_VERSION:
            raise StoreUnavailable(
                f"The saved workspaces have format {version}, this app reads {SCHEMA_VERSION}. "
                "Ask whoever runs this server to update it."
            )
        self.scrub()

    def _run_alone(self, pragma: str) -> None:
        """Run a pragma that may not be part of a transaction; nothing to do but in SQLite."""
        if self.engine.dialect.name != "sqlite":
            return
        try:
            with self._turn:
                connection = self.engine.raw_connection()
                try:
                    connection.cursor().execute(pragma)
                finally:
                    connection.close()
        except (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error) as error:
            raise _unavailable(error) from error


def _default_url() -> str:
    folder = Path(os.environ.get("CSMD_DATA") or Path(__file__).resolve().parents[1] / "workspaces")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # patients: for the server's user only
    return sa.URL.create("sqlite", database=str(folder / "workspaces.db")).render_as_string()


def _engine(address: str) -> sa.Engine:
    url = sa.make_url(address)
    options: dict[str, Any] = {"hide_parameters": True}  # no patient in a log
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, pool_pre_ping=True, **options)
    if "timeout" not in url.query:
        url = url.update_query_dict({"timeout": "10"})  # seconds to wait for another writer
    if url.database in {None, "", ":memory:"}:
        options |= {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    engine = sa.create_engine(url, **options)
    sa.event.listen(engine, "connect", _set_up_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # sqlite3 must not begin transactions by itself
    for pragma in (
        "foreign_keys=ON",
        "synchronous=FULL",  # an acknowledged save survives a power cut, not only a killed process
        "secure_delete=ON",  # deleted patients are overwritten with zeros
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at the start: two writers then queue, and none fails half-way."""
    write = connection.get_execution_options().get("write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _version(tx: sa.Connection) -> int:
    version = tx.execute(sa.select(_schema.c.version)).scalar_one_or_none()
    if version is None:
        tx.execute(sa.insert(_schema).values(version=SCHEMA_VERSION))
    return SCHEMA_VERSION if version is None else int(version)


def _unavailable(error: Exception) -> StoreUnavailable:
    words = str(getattr(error, "orig", None) or error).lower()
    if "locked" in words or "busy" in words:
        return StoreUnavailable(
            "The store of workspaces is busy, so this was not done. Try again in a moment."
        )
    if "full" in words or "no space" in words:
        why = "its disk is full"
    elif "readonly" in words or "read-only" in words or "permission" in words:
        why = "it may only be read"
    elif "too big" in words or "too large" in words:
        why = "the data is larger than it can hold"
    else:
        why = "it cannot be reached"
    return StoreUnavailable(
        f"Workspaces cannot be saved or opened now: {why}. "
        "Export your work to a file, and tell whoever runs this server."
    )
