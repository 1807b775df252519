"""The version of the package, in a file that costs nothing to import."""

VERSION = "0.1.0"
