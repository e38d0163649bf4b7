"""Contacts beside MuJoCo and Drake."""
