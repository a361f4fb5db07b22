"""The site that `make docs` builds: pages generated from the program, and the pictures of README and docs."""
