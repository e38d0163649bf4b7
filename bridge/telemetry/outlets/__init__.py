"""The outlets of the gateway, one for each tool, and the list of them."""
