"""The packages that an installation consists of, with versions and hashes for all platforms, and their licences."""
