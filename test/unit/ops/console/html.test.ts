import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../../../ops/console/html.ts';

describe('a text in a page', () => {
  it.each([
    ['markup', `<b title="'">&</b>`, '&lt;b title=&quot;&#39;&quot;&gt;&amp;&lt;/b&gt;'],
    ['lines and tabs', 'one\n\ttwo', 'one\n\ttwo'],
    ['joiners of words and pictures', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
    ['an order turned around', 'nwp\u202e0[derm13]exe.png', 'nwp\\u202e0[derm13]exe.png'],
    ['commands to a terminal', 'a\u0000\u001b[31m\u009b\r\u007f', 'a\\u0000\\u001b[31m\\u009b\\u000d\\u007f'],
    [
      'marks and isolates',
      '\u200e\u200f\u061c\u2066\u2069\ufeff\u2028',
      '\\u200e\\u200f\\u061c\\u2066\\u2069\\ufeff\\u2028',
    ],
    ['half a character', 'a\ud800b', 'a\\ud800b'],
    ['a tag outside the basic plane', '\u{e0041}', '\\u{e0041}'],
  ])('shows %s', (_, text, shown) => {
    expect(html`${text}`.text).toBe(shown);
    expect(html`<a title="${text}">`.text).toBe(`<a title="${shown}">`);
  });

  it('is shown so that nothing is hidden, and nothing is lost', () => {
    const units = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.constantFrom(0x26, 0x3c, 0x65, 0x202e, 0xd83d, 0xdc69),
    );
    fc.assert(
      fc.property(fc.array(units), codes => {
        const text = String.fromCharCode(...codes).replaceAll('\\', '');
        const { text: shown } = html`${text}`;
        expect(shown).not.toMatch(/[<>"']|(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(read(shown)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Reads a text back from what is shown of it. */
function read(shown: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return shown
    .replace(/\\u(?:\{(\w+)\}|(\w{4}))/g, (_, long, short) => String.fromCodePoint(Number.parseInt(long ?? short, 16)))
    .replace(/&(#?\w+);/g, (_, name: string) => names[name] ?? '');
}
