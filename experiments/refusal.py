"""What an experiment refuses, and why a run ends early: one line for the person at the terminal, and an exit code."""

WRONG_INPUT, FAILED, LATER = 2, 1, 75


class Refusal(Exception):
    """Something that cannot be done as asked, in one line; nothing has been lost."""

    exit_code = WRONG_INPUT


class Failure(Refusal):
    """A run that had to end early, in one line; what was finished is stored."""

    exit_code = FAILED
