import { cpus } from 'node:os';

/** Returns the page of all sections, with three lines first for a reader who reads no more. */
export function pageOf(sections: readonly string[]): string {
  const preamble = `# Performance

Written by \`npm run bench\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node.js ${process.version}.

What may be concluded:
- Milliseconds are this machine's. What holds between machines is the ratio to another commit, measured in turn: \`npm run bench -- --against COMMIT\`.
- Processor time is spent on AWS too, at that processor's speed; how long things take is not comparable, for nothing here has AWS's network.
- Each process works alone here: how much an account of AWS does in a second follows from how many it lets run at once.
`;
  return [preamble, ...sections].join('\n');
}
