"""relink.py - a mutant of one C file without a build: one object is compiled, and binaries are linked with it in front of the archives.

Idea       a linker takes no member of an archive whose names it has already, so an object that stands first replaces its member; an
           archive itself, for programs that a test builds, is made again with the object for its member.  A compiler
           and a linker run once, in a third of a second; Ninja would compile the file for each mutant and again for the clean tree.
Owner      Relink, one for each copy of the tree.
Invariant  after restore() Ninja has nothing to build: no file of the copy's source is changed, and a binary of the mutant replaces the
           clean binary only from take() to restore().
Tests      self_test.py
"""
import json
import os
import re
import shlex
import shutil
import subprocess

ARCHIVE = re.compile(r"(^|/)lib\w+\.a$")
LINKER = next((["-fuse-ld=" + name] for name in ("mold", "lld") if shutil.which(name)), [])


def commands_of(build):
    """The compile command of each file; of several, the one for an archive of the product."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        rows = json.load(file)
    rows.sort(key=lambda row: not re.search(r"/(pto_)?(runtime|codegen|frontend)\.dir/", row["command"]))
    return {row["file"]: row["command"] for row in reversed(rows)}


def compile_text(command, source, text, obj, folder):
    """(is it compiled, the compiler's output).  command: of compile_commands.json, for the file `source`."""
    mutant = os.path.join(os.path.dirname(source), "mutant-" + os.path.basename(source))
    words = shlex.split(command)
    words = words[1:] if os.path.basename(words[0]) == "ccache" else words   # no mutant is compiled twice
    words[words.index("-o") + 1] = obj
    words[words.index(source)] = mutant
    words = [w for i, w in enumerate(words) if w not in ("-MD", "-MF", "-MT") and words[i - 1] not in ("-MF", "-MT")]
    with open(mutant, "w") as file:
        file.write('#line 1 "%s"\n%s' % (source, text))
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder)
    finally:
        os.remove(mutant)
    return done.returncode == 0, done.stdout.decode(errors="replace")


class Relink:
    def __init__(self, space):
        self.space, self.commands = space, None
        self.object = os.path.join(space.folder, "mutant.o")
        self.said, self.inputs, self.swapped, self.source = {}, {}, [], None

    def compile(self, path, text):
        """(True: it is compiled; False: it does not compile; None: no file of an archive, Ninja has to build it; the compiler's output)"""
        if self.commands is None:
            self.commands = commands_of(self.space.build)
        self.source = os.path.join(self.space.source, path)
        if self.source not in self.commands:
            return None, ""
        return compile_text(self.commands[self.source], self.source, text, self.object, self.space.build)

    def take(self, targets):
        """Links every target with the mutant.  False: one of them cannot be linked by relinking, Ninja has to build it."""
        return all([self.take_one(target) for target in targets])

    def take_one(self, target):
        if not self.is_of(target):
            return True
        links = self.links_of(target)
        for link, binary in links:
            if binary in self.swapped:
                continue
            if os.path.exists(binary + ".mutant"):   # of a run that was killed
                os.remove(binary + ".mutant")
            done = subprocess.run(link, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.space.build)
            if done.returncode != 0:
                return False
            os.rename(binary, binary + ".clean")
            os.rename(binary + ".mutant", binary)
            self.swapped.append(binary)
        return bool(links)

    def recover(self):
        """Restores the clean binaries after a run that was killed."""
        for folder, _, names in os.walk(self.space.build):
            for name in names:
                if name.endswith(".clean"):
                    os.rename(os.path.join(folder, name), os.path.join(folder, name[:-len(".clean")]))

    def restore(self):
        for binary in self.swapped:
            os.rename(binary + ".clean", binary)
        self.swapped = []

    def is_of(self, target):
        """Is the file one of those that the target is made of?"""
        if target not in self.inputs:
            self.inputs[target] = set(self.ninja("inputs", target).split("\n"))
        return self.source in self.inputs[target]

    def is_linked_into(self, target):
        """Does the binary hold the file itself?  Else it is at most made by a program that does."""
        path = os.path.relpath(self.source, self.space.source)
        line = self.ninja("commands", target).strip().split("\n")[-1]
        libraries = {"runtime": r"/libpto(_runtime\.a|\.so)"}.get(path.split("/")[0], r"/libpto_%s\.a" % path.split("/")[0])
        return bool(re.search(libraries, line)) or path + ".o" in line

    def links_of(self, target):
        """(the words of the command, the binary) of all that the target makes; empty: neither an archive nor linked from archives alone."""
        line = self.ninja("commands", target).strip().split("\n")[-1]
        words = [w for w in shlex.split(line) if w not in (":", "&&")]
        archives = [w for w in dict.fromkeys(words) if ARCHIVE.search(w)]
        if "qc" in words and "-o" not in words:
            members = [self.object if self.is_made_of_the_source(w) else w for w in words if w.endswith(".o")]
            made = [os.path.join(self.space.build, path) for path in archives]
            return [(["ar", "qc", archive + ".mutant"] + members, archive) for archive in made if self.object in members]
        simple = "-o" in words and "-shared" not in words and "-c" not in words and "--whole-archive" not in line
        binary = os.path.join(self.space.build, words[words.index("-o") + 1]) if simple else None
        if not simple or not archives or not os.path.exists(binary):
            return []
        at = words.index("-o")
        words[at:at + 2] = LINKER + [self.object, "-o", binary + ".mutant"]
        return [(words, binary)]

    def is_made_of_the_source(self, obj):
        """Is the object of a library, like runtime/CMakeFiles/pto_runtime.dir/host/npz.c.o, that of the source?"""
        return self.source.endswith("/" + obj.split(".dir/")[-1][:-len(".o")])

    def ninja(self, tool, target):
        if (tool, target) not in self.said:
            done = subprocess.run(["ninja", "-C", self.space.build, "-t", tool, target], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.said[tool, target] = done.stdout.decode()
        return self.said[tool, target]
