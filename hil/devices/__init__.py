"""Links to controllers, drives and instruments, real or virtual."""
