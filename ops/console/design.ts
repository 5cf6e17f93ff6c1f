/** The design of the pages: tokens first, then what is made of them. One type scale, one accent, light and dark. */
export const style = `
:root {
  color-scheme: light dark;
  --text: #16202b; --muted: #5a6675; --ground: #f6f7f9; --surface: #ffffff; --line: #e1e5ea; --hover: #f1f3f6;
  --accent: #3b4fd8; --on-accent: #ffffff; --focus: #6f80ff;
  --good: #0b7a4b; --good-ground: #e3f5ec; --bad: #b3261e; --bad-ground: #fdecea; --wait: #8a5300; --wait-ground: #fff3dc;
  --held: #5b3fb0; --held-ground: #efeafc; --none: #5a6675; --none-ground: #eceff3;
  --small: .75rem; --body: .875rem; --large: 1.0625rem; --title: 1.5rem;
  --space: .5rem; --radius: 8px;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7ebf0; --muted: #9aa6b4; --ground: #0e1319; --surface: #151c24; --line: #263140; --hover: #1b2430;
    --accent: #8f9dff; --on-accent: #0e1319; --focus: #8f9dff;
    --good: #5fd3a0; --good-ground: #10301f; --bad: #ff9a92; --bad-ground: #3a1715; --wait: #f2c063; --wait-ground: #34260a;
    --held: #bda7ff; --held-ground: #261d45; --none: #9aa6b4; --none-ground: #202a36;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: var(--body)/1.5 var(--sans); -webkit-text-size-adjust: 100% }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px }
.skip { position: absolute; left: -100rem }
.skip:focus { left: var(--space); top: var(--space); background: var(--surface); padding: var(--space) }
header.top { background: var(--surface); border-bottom: 1px solid var(--line) }
.bar { max-width: 72rem; margin: 0 auto; padding: 0 calc(var(--space) * 3); display: flex; flex-wrap: wrap; align-items: center; gap: 0 calc(var(--space) * 3) }
.brand { font-weight: 650; font-size: var(--large); padding: calc(var(--space) * 1.5) 0; color: var(--text); letter-spacing: -.01em }
.brand small { font-weight: 400; font-size: var(--small); color: var(--muted); margin-left: var(--space) }
nav.places { display: flex; flex-wrap: wrap; gap: 0 calc(var(--space) * 2) }
nav.places a { padding: calc(var(--space) * 1.75) 0; color: var(--muted); border-bottom: 2px solid transparent }
nav.places a[aria-current] { color: var(--text); border-color: var(--accent) }
.languages { margin-left: auto; font-size: var(--small) }
main { max-width: 72rem; margin: 0 auto; padding: calc(var(--space) * 3) }
h1 { font-size: var(--title); line-height: 1.25; letter-spacing: -.02em; margin: 0 0 var(--space); overflow-wrap: anywhere }
h2 { font-size: var(--large); margin: 0; letter-spacing: -.01em }
h1 .badge { vertical-align: middle; margin-left: var(--space); letter-spacing: 0 }
.card > header .button { margin-left: auto }
.crumbs { color: var(--muted); font-size: var(--small); margin: 0 0 var(--space) }
.lead { color: var(--muted); margin: 0 0 calc(var(--space) * 3); max-width: 46rem }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); margin: 0 0 calc(var(--space) * 3); overflow: hidden }
.card > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--space); padding: calc(var(--space) * 1.75) calc(var(--space) * 2); border-bottom: 1px solid var(--line) }
.card > header p { margin: 0; color: var(--muted); font-size: var(--small) }
form.card, div.card.inside, .card > .inside { padding: calc(var(--space) * 2) }
.empty { padding: calc(var(--space) * 4) calc(var(--space) * 2); color: var(--muted); text-align: center; margin: 0 }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; font-size: var(--small); font-weight: 550; color: var(--muted); padding: var(--space) calc(var(--space) * 2); border-bottom: 1px solid var(--line); white-space: nowrap }
td { padding: calc(var(--space) * 1.25) calc(var(--space) * 2); border-bottom: 1px solid var(--line); vertical-align: top }
.one-line { display: flex; align-items: baseline; gap: var(--space); max-width: 28rem }
.one-line .code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0 }
button.copy { min-height: 0; padding: 0 .375rem; font-size: var(--small); font-weight: 400; color: var(--muted) }
button.copy.copied { color: var(--good) }
.wire { font-family: var(--mono) }
tbody tr:last-child td { border-bottom: 0 }
tbody tr:hover td { background: var(--hover) }
.number { text-align: right }
time small, .muted, small { color: var(--muted); font-size: var(--small) }
code, pre, .code { font-family: var(--mono); font-size: .8125rem }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
.badge { display: inline-block; padding: 0 var(--space); border-radius: 99px; font-size: var(--small); font-weight: 550; line-height: 1.6; white-space: nowrap; color: var(--none); background: var(--none-ground) }
.good { color: var(--good); background: var(--good-ground) } .bad { color: var(--bad); background: var(--bad-ground) }
.wait { color: var(--wait); background: var(--wait-ground) } .held { color: var(--held); background: var(--held-ground) }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: calc(var(--space) * 2); margin: 0; padding: calc(var(--space) * 2) }
.facts + .inside { border-top: 1px solid var(--line) }
.facts dt { font-size: var(--small); color: var(--muted) } .facts dd { margin: 0; overflow-wrap: anywhere }
.facts .figure { font-size: var(--large); font-weight: 600 }
.needs { margin: 0; padding: calc(var(--space) * 2) calc(var(--space) * 2) calc(var(--space) * 2) calc(var(--space) * 4) }
.needs li { margin: 0 0 var(--space) }
.note { border-left: 3px solid var(--accent); background: var(--surface); padding: var(--space) calc(var(--space) * 2); margin: 0 0 calc(var(--space) * 2) }
.note.trouble { border-color: var(--bad) }
form.row { display: flex; flex-wrap: wrap; gap: calc(var(--space) * 1.5); align-items: end }
label { display: grid; gap: 2px; font-size: var(--small); color: var(--muted) }
input, select { font: inherit; color: var(--text); background: var(--surface); border: 1px solid var(--line); border-radius: 6px; padding: .375rem .5rem; min-height: 2.25rem; max-width: 100% }
input[type=checkbox] { min-height: 0; width: 1.125rem; height: 1.125rem }
.actions { display: flex; flex-wrap: wrap; gap: var(--space); align-items: center }
.actions form { display: contents }
button, .button { font: inherit; font-weight: 550; min-height: 2.25rem; padding: 0 calc(var(--space) * 1.75); border-radius: 6px; border: 1px solid var(--line); background: var(--surface); color: var(--text); cursor: pointer; display: inline-flex; align-items: center }
button:hover, .button:hover { background: var(--hover); text-decoration: none }
button.main, .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.danger { color: var(--bad); border-color: var(--bad) }
svg.bars { display: block; width: 100%; height: 3rem }
svg .entregue, .legend .entregue { fill: var(--good) } svg .falhou { fill: var(--bad) } svg .pendente { fill: var(--wait) } svg .retida { fill: var(--held) } svg .cancelada { fill: var(--none) }
.line { list-style: none; margin: 0; padding: calc(var(--space) * 2) }
.line li { border-left: 2px solid var(--line); margin-left: .375rem; padding: 0 0 calc(var(--space) * 2) calc(var(--space) * 2); position: relative }
.line li::before { content: ""; position: absolute; left: -.4375rem; top: .3125rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--none); border: 2px solid var(--surface) }
.line li.success::before { background: var(--good) } .line li.failure::before { background: var(--bad) } .line li.next::before { background: var(--wait) }
.line li:last-child { border-color: transparent; padding-bottom: 0 }
.two { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 calc(var(--space) * 3) }
footer { max-width: 72rem; margin: 0 auto; padding: 0 calc(var(--space) * 3) calc(var(--space) * 4); color: var(--muted); font-size: var(--small) }
@media (max-width: 44rem) {
  .two { grid-template-columns: minmax(0, 1fr) }
  main, .bar, footer { padding-left: calc(var(--space) * 2); padding-right: calc(var(--space) * 2) }
  nav.places { order: 3; width: 100% } nav.places a { padding: var(--space) 0 }
  table, tbody, tr, td { display: block; width: 100% }
  thead { position: absolute; left: -100rem }
  tr { border-bottom: 1px solid var(--line); padding: var(--space) 0 } tbody tr:last-child { border-bottom: 0 }
  td { border: 0; padding: 2px calc(var(--space) * 2); display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: var(--space) }
  td::before { content: attr(data-label); color: var(--muted); font-size: var(--small) }
  .number { text-align: left }
  form.row label, form.row input, form.row select { width: 100% }
}
`;
