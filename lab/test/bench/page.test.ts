import { describe, expect, it } from 'vitest';
import { pageOf, sectionsOf } from '../../bench/page.ts';

describe('the page', () => {
  const begins = '# Performance\n\nOn this machine.\n';
  const titles = ['First', 'Second'];

  it('keeps the sections that were not measured again', () => {
    const page = `${begins}\n## First\none\n\n## Second\ntwo\n`;
    const sections = sectionsOf(page, begins).set('Second', 'Second\nnew');
    expect(pageOf(begins, titles, sections)).toEqual({ page: `${begins}\n## First\none\n\n## Second\nnew\n` });
  });

  it('does not mix the results of two machines', () => {
    const sections = sectionsOf('# Performance\n\nOn another.\n\n## First\none\n', begins).set('Second', 'Second\nnew');
    expect(pageOf(begins, titles, sections)).toEqual({ missing: 'First' });
  });
});
