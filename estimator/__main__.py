"""`python -m netcarlo`."""

from netcarlo.cli.main import main

main()
