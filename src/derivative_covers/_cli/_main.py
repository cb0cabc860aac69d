"""The commands together, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from ..errors import DerivativeError
from ._check import check
from ._cover import cover
from ._doctor import doctor
from ._schedule import schedule

__all__ = ["main"]

PROGRAM = "derivative-covers"
FINE, WRONG_INPUT, INTERRUPTED = 0, 2, 130


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message=f"{PROGRAM} %(version)s")
@click.pass_context
def commands(context: click.Context) -> int:
    """Derivative information that stays cheap when a program is large.

    Exit status: 0 fine, 1 a check failed, 2 wrong usage or input.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return FINE


for _command in (cover, check, schedule, doctor):
    commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Args:
        arguments: What stands behind the program's name; ``sys.argv`` by default.

    Returns:
        0; 1 where a check failed; 2 for what cannot be done, with one sentence on the
        error stream; 130 where it was interrupted.
    """
    given = None if arguments is None else list(arguments)
    try:
        status = commands.main(given, prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        return _refuse(error.format_message(), context)
    except DerivativeError as error:
        return _refuse(str(error))
    except click.Abort:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader (`head`, say) has enough, for which click exits; nothing is left to
        # flush at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    return status if isinstance(status, int) else FINE


def _refuse(message: str, context: click.Context | None = None) -> int:
    who = PROGRAM if context is None else context.command_path
    click.echo(f"{who}: error: {' '.join(message.split())}", err=True)
    return WRONG_INPUT
