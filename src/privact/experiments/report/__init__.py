"""What experiments leave behind: findings with verdicts, and the one report of all of them."""
