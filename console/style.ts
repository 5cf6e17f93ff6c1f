/** The CSS for all pages. `--edge` and the `--mark` colours have a contrast of at least 3:1 (WCAG 1.4.11). */
export const style = `
:root {
  color-scheme: light dark; accent-color: var(--accent);
  --text: #17202b; --muted: #566272; --ground: #f5f6f8; --surface: #fff; --line: #e0e4ea; --edge: #7b8696; --hover: #f0f3f7;
  --accent: #3447cf; --on-accent: #fff; --good: #0a7347; --good-ground: #e2f5eb; --bad: #ad241c; --bad-ground: #fdebe9;
  --wait: #855000; --wait-ground: #fff2d9; --held: #573bab; --held-ground: #efeafc; --plain-ground: #e9edf2;
  --mark-good: #1a9d63; --mark-bad: #d6382d; --mark-open: #7d8897; --mark-wait: #bf7a00;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7ebf0; --muted: #a0abb9; --ground: #0d1218; --surface: #151c24; --line: #283341; --edge: #6c7b90; --hover: #1a2330;
    --accent: #97a4ff; --on-accent: #0d1218; --good: #62d6a2; --good-ground: #10301f; --bad: #ff9d95; --bad-ground: #3a1715;
    --wait: #f3c368; --wait-ground: #34260a; --held: #bfaaff; --held-ground: #261d45; --plain-ground: #222c38;
    --mark-good: #3fbf85; --mark-bad: #f0564a; --mark-open: #8492a3; --mark-wait: #d9a03f;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: .9375rem/1.5 var(--sans); -webkit-text-size-adjust: 100% }
main, .bar, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem }
main { padding-top: 1.5rem } main:focus { outline: 0 }
footer { padding: 1rem 1.5rem 2rem; color: var(--muted); font-size: .8125rem }
h1 { font-size: 1.5rem; line-height: 1.3; letter-spacing: -.015em; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.0625rem; margin: 0 } h1 small { font-weight: 400; letter-spacing: 0 } p { margin: 0 0 .5rem } p:last-child { margin-bottom: 0 }
a { color: var(--accent); text-underline-offset: 2px } td a:not(p a), .crumbs a, nav a, .brand { text-decoration: none } a:hover { text-decoration: underline }
code, pre { font-family: var(--mono); font-size: .8125rem; overflow-wrap: anywhere }
pre { margin: 0; padding: .625rem .75rem; background: var(--ground); border-radius: 6px; white-space: pre-wrap; max-height: 24rem; overflow: auto }
small, .muted { color: var(--muted); font-size: .8125rem } .block { display: block; margin-top: .125rem }
summary { cursor: pointer; color: var(--muted); font-size: .8125rem } summary:hover { color: var(--text) } details > :nth-child(2) { margin-top: .5rem }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.skip { position: absolute; left: -100rem } .skip:focus { left: .5rem; top: .5rem; background: var(--surface); padding: .5rem; z-index: 1 }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.bad-text { color: var(--bad) }
header.top { background: var(--surface); border-bottom: 1px solid var(--line) }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem; min-height: 3.25rem }
.brand { font-weight: 700; font-size: 1.125rem; color: var(--text); letter-spacing: -.01em }
.bar nav { display: flex; gap: 1.25rem } .bar nav a { padding: .875rem 0; color: var(--muted); border-bottom: 2px solid transparent }
.bar nav a[aria-current] { color: var(--text); border-color: var(--accent) }
.tools a { text-decoration: none } .tools { margin-left: auto; display: flex; align-items: center; gap: 1rem; font-size: .8125rem; color: var(--muted) }
.banner { background: var(--bad-ground); color: var(--bad); padding: .625rem 1.5rem; margin: 0; text-align: center }
.crumbs { color: var(--muted); font-size: .8125rem; margin-bottom: .375rem }
.heading { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between; gap: .75rem 1.5rem; margin-bottom: 1rem }
.heading h1 { min-width: 0; flex: 1 1 20rem }
.lead { color: var(--muted); max-width: 44rem; margin-bottom: 1rem } .verdict { font-size: 1rem; margin-bottom: 1rem }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 1.25rem; overflow: hidden }
.card header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; padding: .75rem 1rem; border-bottom: 1px solid var(--line) }
.card header > :last-child:not(:first-child) { margin-left: auto }
.inside { padding: 1rem } .inside + .inside:not(.card) { padding-top: 0 } .health p { margin: .25rem 0 0 } .card > .health { padding: .75rem 1rem 0 } td .health, td p { color: var(--muted); font-size: .8125rem }
.title { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem .75rem; font-weight: 550 } td p.bad-text { color: var(--bad); margin: .25rem 0 0 } td .health { max-width: 40rem }
.empty { padding: 1.5rem 1rem; color: var(--muted); text-align: center }
.note { background: var(--surface); border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: 8px; padding: .75rem 1rem; margin: 0 0 1rem }
.note.done { border-left-color: var(--mark-good) } .note.failed { border-left-color: var(--mark-bad) } .card .note { margin: .75rem 1rem } .note:has(+ form) { max-width: 48rem }
.note.secret { border-color: var(--held); background: var(--held-ground) } .secret-value { font-size: .9375rem; user-select: all }
.note.secret dl { display: grid; gap: .75rem; margin: .5rem 0 } .note.secret dl div { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 3fr); gap: .125rem .5rem } .note.secret dd { margin: 0; overflow-wrap: anywhere }
.advice { border-bottom: 1px solid var(--line) }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
progress { width: 16rem; max-width: 100% } th { text-align: left; font-size: .8125rem; font-weight: 550; color: var(--muted); padding: .5rem 1rem; border-bottom: 1px solid var(--line) }
td { padding: .625rem 1rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word }
tbody tr:last-child td { border-bottom: 0 } tbody tr:hover { background: var(--hover) }
.number { text-align: right; white-space: nowrap; width: 1% } td time, td .badge { white-space: nowrap } :is(td, .facts) time small { display: block }
td .id { font-family: var(--mono); font-size: .8125rem; display: block; max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
td pre { max-width: 28rem }
@media (max-width: 64rem) { main, .bar, footer { padding-left: 1rem; padding-right: 1rem } }
@media (min-width: 47.5rem) and (max-width: 76rem) {
  table { font-size: .875rem } :is(th, td):not(:first-child) { padding-left: .3125rem } :is(th, td):not(:last-child) { padding-right: .3125rem }
  td time { white-space: normal; display: inline-block; min-width: 5rem } td time small { font-size: .75rem } td .id { max-width: 5rem } th { font-size: .75rem } td .badge { padding: .0625rem .375rem }
}
@media (max-width: 47.49rem) {
  .wide-only { display: none }
  table thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
  table :is(tbody, tr, td) { display: block } table tr { border-bottom: 1px solid var(--line); padding: .5rem 0 }
  table tbody tr:last-child { border-bottom: 0 }
  table td, table td.number { border: 0; padding: .125rem 1rem; text-align: left; width: auto; white-space: normal; overflow-wrap: anywhere } td > div { display: inline } td time, td time small { white-space: normal; display: inline }
  table td.none { display: none } table td::before { content: attr(data-label) ": "; color: var(--muted); font-size: .8125rem } #webhooks td:not(:last-child)::before { content: none } td pre { margin-top: .25rem }
  #deliveries tr { position: relative; display: grid; grid-template-columns: auto auto 1fr; gap: .125rem .75rem; padding: .5rem 1rem }
  #deliveries td { padding: 0; order: 2 } #deliveries td:has(.badge) { order: 0; grid-column: 1 / 3 } #deliveries td.time { order: 1; grid-column: 3; text-align: right }
  #deliveries td.result { grid-column: 3; text-align: right }
  #deliveries td:is(.more, .number) { display: none } #deliveries td:is(.time, .result, :has(.badge))::before { content: none } #deliveries td a::after { content: ""; position: absolute; inset: 0 }
  #deliveries td.time small { display: none } .chip { padding: .3125rem .75rem } .tools > *, .tools button { min-height: 2rem; display: inline-flex; align-items: center } details > summary:not(.chip) { padding: .375rem 0 }
  .note.secret dl div { grid-template-columns: minmax(0, 1fr) } td .id { max-width: 100% } .tools { margin-left: 0; padding-bottom: .5rem; width: 100%; justify-content: space-between }
}
.badge { display: inline-block; padding: .0625rem .5rem; border-radius: 99px; font-size: .8125rem; font-weight: 550; white-space: nowrap; color: var(--muted); background: var(--plain-ground); vertical-align: middle; letter-spacing: 0 }
.badge.good { color: var(--good); background: var(--good-ground) } .badge.bad { color: var(--bad); background: var(--bad-ground) }
.badge.wait { color: var(--wait); background: var(--wait-ground) } .badge.held { color: var(--held); background: var(--held-ground) }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem; margin: 0; padding: 1rem }
.facts dt { font-size: .8125rem; color: var(--muted) } .facts dd { margin: 0; overflow-wrap: anywhere } .facts > :has(> dd > code) { grid-column: 1 / -1 } .facts time { white-space: nowrap }
form .facts { padding: 0 0 1rem }
form.inside { display: grid; gap: 1rem; max-width: 48rem; justify-items: start } form.inside > * { margin: 0; width: 100% }
form.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end } form.row label { display: grid; font-size: .8125rem; color: var(--muted) }
.field { display: grid; gap: .25rem } .field > label { font-weight: 550 } .field p { margin: 0 }
input, select { font: inherit; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; padding: .4375rem .625rem; width: 100%; min-width: 0 }
:is(input, select)[aria-invalid] { border-color: var(--bad) }
input:is([type=radio], [type=checkbox]) { width: 1rem; height: 1rem; margin: .25rem .25rem 0 0; flex: none } form.row input { width: auto }
fieldset { border: 0; padding: 0; display: grid; gap: .75rem } .choice { display: flex; gap: .25rem }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem } .actions p { margin: 0 }
button, .button { font: inherit; font-weight: 550; line-height: 1.5; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; padding: .3125rem .75rem; cursor: pointer; text-decoration: none; display: inline-block; white-space: nowrap }
button:hover, .button:hover { background: var(--hover); text-decoration: none }
button.main, .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) } :is(button, .button).main:hover { filter: brightness(1.1) }
form.card button.danger { background: var(--bad); color: var(--on-accent) } button.danger, .button.danger { color: var(--bad); border-color: var(--bad) }
button.quiet { border: 0; background: none; padding: 0; color: var(--accent); font-weight: 400; font-size: inherit } button.copy { font-size: .8125rem; padding: .1875rem .375rem }
.entry { max-width: 34rem } .entry .other-language { float: right }
.chips { display: flex; flex-wrap: wrap; align-items: center; gap: .375rem }
.chip { display: inline-block; padding: .125rem .625rem; border: 1px solid var(--edge); border-radius: 99px; font-size: .8125rem; color: var(--text) }
.chip:hover { background: var(--hover); text-decoration: none } .chip[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
summary.chip { list-style: none } summary.chip::-webkit-details-marker { display: none }
.chips details[open], .card header:has(details[open]) nav { flex-basis: 100% }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem } .key::before { content: ""; display: inline-block; width: .625rem; height: .625rem; border-radius: 2px; margin-right: .375rem; background: var(--mark) }
.entregue { --mark: var(--mark-good) } .falhou { --mark: var(--mark-bad) } .retida { --mark: var(--held) } .pendente { --mark: var(--mark-wait) } .cancelada { --mark: var(--mark-open) }
.bars { display: block; width: 100%; height: 8rem } .bars rect { fill: var(--mark) }
.bars .zone { fill: transparent } .bars a:hover .zone { fill: var(--hover) } .bars .zone.uncounted { fill: var(--plain-ground) } .bars .grid { stroke: var(--line); vector-effect: non-scaling-stroke }
.peak { color: var(--muted); font-size: .8125rem; margin: 0; line-height: 1 } .axis { display: flex; justify-content: space-between; color: var(--muted); font-size: .8125rem; border-top: 1px solid var(--edge); padding-top: .25rem }
.steps { list-style: none; padding: 0; margin: 0; counter-reset: step } .steps > li { counter-increment: step }
.steps h2::before { content: counter(step) ". " } details.inside { padding-top: 0 } .inside > details, .secret details { margin: .5rem 0 }
@media print { header.top form, .actions, .chips, .copy, .banner, nav { display: none } .card { break-inside: avoid } body { background: #fff } }
`;
