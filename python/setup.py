"""The version is that of the library: its header has it, and a source archive its own description."""
import pathlib
import re

import setuptools

here = pathlib.Path(__file__).resolve().parent
header, described = here.parent / "runtime/include/pto/pto_version.h", here / "PKG-INFO"
if header.exists():
    version = ".".join(re.findall(r"^#define PTO_VERSION_[A-Z]+ +(\d+)$", header.read_text(), re.M))
else:
    version = re.search(r"^Version: (.*)$", described.read_text(), re.M).group(1)
setuptools.setup(version=version)
