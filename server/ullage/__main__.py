"""`python -m ullage`."""

from ullage.cli import main

raise SystemExit(main())
