"""attest serve"""

from __future__ import annotations

import os
import sys

import click

from service.cli.shared import needs
from service.settings import Settings, load_settings


@needs("operator")
@click.command("serve", epilog="\b\nExample:\n  ATTEST_TOKEN_SECRET=$(openssl rand -hex 32) attest serve")
@click.option("--host", help="Address to bind; ATTEST_HOST otherwise.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to bind; ATTEST_PORT otherwise.")
def serve_command(host: str | None, port: int | None) -> None:
    """Run the HTTP service under gunicorn (threads; models are loaded once a worker, after the fork)."""
    settings = load_settings()
    if settings.token_secret is None and settings.token_keys_file is None:
        raise click.UsageError("No way to check tokens: set ATTEST_TOKEN_SECRET or ATTEST_TOKEN_KEYS_FILE.")
    os.execv(sys.executable, [sys.executable, *gunicorn_arguments(settings, host, port)])


def gunicorn_arguments(settings: Settings, host: str | None = None, port: int | None = None) -> list[str]:
    """How the service is run. What a request may weigh before any code of ours sees it is bounded here."""
    return [
        "-m",
        "gunicorn",
        "--worker-class=service.web.worker.PatientWorker",
        f"--workers={settings.workers}",
        f"--threads={settings.threads}",
        f"--bind={host or settings.host}:{port or settings.port}",
        f"--timeout={int(settings.request_timeout_s) + 30}",
        "--graceful-timeout=20",
        "--limit-request-line=8190",
        "--limit-request-fields=64",
        "--limit-request-field_size=8190",
        "--no-control-socket",
        "service.app:create_app()",
    ]
