"""Mutants of the .mlir tests through tile-opt: parser, verifiers, folders and canonicalisation.

An error is what malformed IR deserves; a signal or a hang is a bug. Many mutants go through one
process (`-split-input-file`); a batch that dies is halved until one mutant is left, which is then
shrunk line by line.
"""

import subprocess

import mutants

SEPARATOR = "\n// -----\n"
PASSES = ["-canonicalize", "-cse", "-tile-inline-functions", "-tile-verify-kernels",
          "-canonicalize"]  # fmt: skip
BATCH = 100
SECONDS = 20  # for a batch; what takes longer hangs


class Tool:
    def __init__(self, path):
        self.command = [path, "-split-input-file", *PASSES, "-o", "/dev/null"]

    def dies(self, sections):
        """How the tool ended, or the empty string if it lived to say what is wrong."""
        text = SEPARATOR.join(sections).encode()
        try:
            done = subprocess.run(
                self.command, input=text, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no answer within {SECONDS} seconds"
        if 0 <= done.returncode <= 2:
            return ""
        return f"ended by signal {-done.returncode}: {done.stderr.decode(errors='replace')[-1500:]}"

    def find(self, sections):
        """Of sections that kill the tool together, those that kill it alone."""
        if len(sections) == 1:
            return sections
        middle = len(sections) // 2
        halves = [half for half in (sections[:middle], sections[middle:]) if self.dies(half)]
        return [crash for half in halves for crash in self.find(half)]


def run(campaign):
    tool = Tool(str(campaign.build / "bin/tile-opt"))
    folders = campaign.corpus or [campaign.root / "test"]
    corpus = mutants.Corpus(mutants.read_corpus(folders), tool.command[0])
    while campaign.goes_on():
        # What is over the limits is refused with its whole file, so such a mutant goes alone.
        alone = campaign.rng.random() < 0.3
        batch = [
            mutants.mutant(corpus, campaign.rng, huge=1 if alone else 0)
            for _ in range(1 if alone else BATCH)
        ]
        campaign.runs += len(batch)
        if not tool.dies(batch):
            continue
        for text in tool.find(batch):
            lines = mutants.shrink_lines(text.splitlines(), lambda few: tool.dies(["\n".join(few)]))
            text = "\n".join(lines) + "\n"
            campaign.find(tool.dies([text]) or "dies in a batch", text, ".mlir", text)
