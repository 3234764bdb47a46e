"""python -m privact is the command privact."""

from privact.cli.main import main

main()
