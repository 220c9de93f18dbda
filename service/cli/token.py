"""attest token"""

from __future__ import annotations

import click

from service.cli.shared import needs
from service.settings import load_settings
from service.web.auth import issue_token


@needs("admin")
@click.command(
    "token",
    epilog="""\b
Example:
  export ATTEST_TOKEN_SECRET=$(openssl rand -hex 32)
  TOKEN=$(attest token --user alice --group eng)""",
)
@click.option("--tenant", default="demo", show_default=True)
@click.option("--user", default="alice", show_default=True)
@click.option("--group", "groups", multiple=True, help="May be repeated.")
@click.option("--label", "labels", multiple=True, help="A label besides public; may be repeated.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    default=("reader",),
    show_default=True,
    help="reader, inspect, operator, admin.",
)
@click.option("--hours", default=12.0, show_default=True, type=click.FloatRange(min=0.01, max=24 * 30))
def token_command(
    tenant: str,
    user: str,
    groups: tuple[str, ...],
    labels: tuple[str, ...],
    roles: tuple[str, ...],
    hours: float,
) -> None:
    """Print a signed token for development (HS256 with ATTEST_TOKEN_SECRET)."""
    click.echo(
        issue_token(
            load_settings(),
            tenant=tenant,
            subject=user,
            groups=list(groups),
            labels=list(labels),
            roles=list(roles),
            ttl_s=int(hours * 3600),
        )
    )
