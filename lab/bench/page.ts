import { cpus } from 'node:os';

/** Returns the page's text before its sections: three lines for a reader who reads no more. */
export function preamble(): string {
  return `# Performance

Written by \`npm run bench\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node.js ${process.version}.

What may be concluded:
- Milliseconds are this machine's. What holds between machines is the ratio to another commit, measured in turn: \`npm run bench -- --against COMMIT\`.
- Processor time is spent on AWS too, at that processor's speed; how long things take is not comparable, for nothing here has AWS's network.
- Each process works alone here: how much an account of AWS does in a second follows from how many it lets run at once.
`;
}

/** Returns the sections of a page, by heading; none, where another machine's figures stand on it. */
export function sectionsOf(page: string, begins: string): Map<string, string> {
  const [first = '', ...sections] = page.split(/^## /m);
  if (first.trim() !== begins.trim()) return new Map();
  return new Map(sections.map(section => [section.slice(0, section.indexOf('\n')), section.trim()]));
}

/** Returns a page of all titles, or the first title that has no section. */
export function pageOf(
  begins: string,
  titles: readonly string[],
  sections: ReadonlyMap<string, string>,
): { readonly page: string } | { readonly missing: string } {
  const missing = titles.find(title => !sections.has(title));
  if (missing !== undefined) return { missing };
  return { page: [begins, ...titles.map(title => `## ${sections.get(title)}\n`)].join('\n') };
}
