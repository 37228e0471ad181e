"""All tests of kernels, including those with a stored verdict; stores new verdicts."""

import sys

import pytest

from tests import campaigns, verdicts

ARGUMENTS = "--full", "--again", "--no-skips", "--store-verdicts"


def main() -> int:
    """Run the tests of both tiers in `tests/kernels`, and return the exit status of pytest."""
    campaigns.parser(__doc__).parse_args()
    return pytest.main([*ARGUMENTS, str(verdicts.FOLDER)])


if __name__ == "__main__":
    sys.exit(main())
