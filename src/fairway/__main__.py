"""`python -m fairway`."""

from fairway.cli import main

main()
