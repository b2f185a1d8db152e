"""A second kernel: what verify/kernel/ checks, checked by another program."""
