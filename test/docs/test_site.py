#!/usr/bin/python3
"""test_site.py SPHINX DOCS - the site has a page for each page of docs/, needs no server and no other host, and its search finds words.

Exit code  0: it does; 1: no, with what is wrong.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sphinx, docs = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory(prefix="pto-site-") as folder:
    made = subprocess.run([sphinx, "-q", "-W", "--keep-going", "-b", "html", docs, folder], text=True, capture_output=True)
    if made.returncode:
        sys.exit(made.stderr)
    site = pathlib.Path(folder)
    pages = sorted(page.relative_to(docs).with_suffix(".html") for page in docs.rglob("*.md"))
    missing = [str(page) for page in pages if not (site / page).exists()]
    if missing:
        sys.exit(f"no page {missing}")
    for page in site.rglob("*.html"):
        abroad = re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](?:https?:)?//[^"']*""", page.read_text())
        if abroad:
            sys.exit(f"{page.name} needs {abroad}")
    # The index is a script, which a browser loads from a folder too.
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", re.sub(r"([{,])(\w+):", r'\1"\2":', (site / "searchindex.js").read_text()).strip()).group(1))
    of = lambda table: table if isinstance(table, list) else [table]
    found = {index["docnames"][number] for table in ("terms", "titleterms") for number in of(index[table].get("pto_scope_begin", []))}
    if "c-api" not in found:
        sys.exit(f"a search for pto_scope_begin finds {sorted(found)}")
    print(f"{len(pages)} pages, {len(index['terms'])} words")
