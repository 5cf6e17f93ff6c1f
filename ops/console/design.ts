/**
 * The design of the pages: tokens first, then what is made of them. One type scale, one accent, light and dark. `--line` only divides;
 * `--edge` and the marks of charts (`--mark-*`) have 3:1 against every ground, since they alone show where something is.
 */
export const style = `
:root {
  color-scheme: light dark;
  --text: #16202b; --muted: #5a6675; --ground: #f6f7f9; --surface: #ffffff; --line: #e1e5ea; --edge: #7d8897; --hover: #f1f3f6;
  --accent: #3b4fd8; --on-accent: #ffffff; --on-bad: #ffffff; --focus: #6f80ff;
  --good: #0b7a4b; --good-ground: #e3f5ec; --bad: #b3261e; --bad-ground: #fdecea; --wait: #8a5300; --wait-ground: #fff3dc;
  --held: #5b3fb0; --held-ground: #efeafc; --none: #5a6675; --none-ground: #eceff3;
  --mark-good: #1a9d63; --mark-bad: #d6382d; --mark-wait: #b87400; --mark-held: #7a5bd6; --mark-none: #7d8897;
  --small: .75rem; --body: .875rem; --large: 1.0625rem; --title: 1.5rem;
  --space: .5rem; --radius: 8px;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7ebf0; --muted: #9aa6b4; --ground: #0e1319; --surface: #151c24; --line: #263140; --edge: #66758a; --hover: #1b2430;
    --accent: #8f9dff; --on-accent: #0e1319; --on-bad: #0e1319; --focus: #8f9dff;
    --good: #5fd3a0; --good-ground: #10301f; --bad: #ff9a92; --bad-ground: #3a1715; --wait: #f2c063; --wait-ground: #34260a;
    --held: #bda7ff; --held-ground: #261d45; --none: #9aa6b4; --none-ground: #202a36;
    --mark-good: #3fbf85; --mark-bad: #f0564a; --mark-wait: #e0a93a; --mark-held: #9d84f0; --mark-none: #8492a3;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: var(--body)/1.5 var(--sans); -webkit-text-size-adjust: 100% }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px }
[tabindex="-1"]:focus { outline: 0 }
.skip { position: absolute; left: -100rem }
.skip:focus { left: var(--space); top: var(--space); background: var(--surface); padding: var(--space); z-index: 1 }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
header.top { background: var(--surface); border-bottom: 1px solid var(--line) }
.bar { max-width: 72rem; margin: 0 auto; padding: 0 calc(var(--space) * 3); display: flex; flex-wrap: wrap; align-items: center; gap: 0 calc(var(--space) * 3) }
.brand { font-weight: 650; font-size: var(--large); padding: calc(var(--space) * 1.5) 0; color: var(--text); letter-spacing: -.01em }
.brand small { font-weight: 400; font-size: var(--small); color: var(--muted); margin-left: var(--space) }
nav.places { display: flex; flex-wrap: wrap; gap: 0 calc(var(--space) * 2) }
nav.places a { padding: calc(var(--space) * 1.75) 0; color: var(--muted); border-bottom: 2px solid transparent }
nav.places a[aria-current] { color: var(--text); border-color: var(--accent) }
.tools { margin-left: auto; display: flex; align-items: center; gap: calc(var(--space) * 2); font-size: var(--small) }
.tools input { min-height: 1.875rem; padding: .125rem .5rem; width: 13rem; font-size: var(--small) }
.tools button { min-height: 1.875rem; padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; font-size: var(--small) }
.tools button:hover { background: none; text-decoration: underline }
.banner { background: var(--bad-ground); color: var(--bad); padding: calc(var(--space) * 1.25) calc(var(--space) * 3); margin: 0; text-align: center; font-weight: 550 }
main { max-width: 72rem; margin: 0 auto; padding: calc(var(--space) * 3) }
h1 { font-size: var(--title); line-height: 1.25; letter-spacing: -.02em; margin: 0 0 var(--space); overflow-wrap: anywhere }
h2 { font-size: var(--large); margin: 0; letter-spacing: -.01em }
h1 .badge { vertical-align: middle; margin-left: var(--space); letter-spacing: 0 } h1 .wire { font-weight: 400; letter-spacing: 0 }
h1 + .card, h1 + form, h1 + .tiles, h1 + .note { margin-top: calc(var(--space) * 2) }
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
td { padding: calc(var(--space) * 1.25) calc(var(--space) * 2); border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; min-width: 7rem }
td.number, td.more, td:has(input[type=checkbox]) { min-width: 0; white-space: nowrap }
td.text { min-width: 14rem }
td time, td .badge, td .wire { white-space: nowrap }
td time, td time small, dd time small { display: block }
td a:not(.button), td span > .code { display: inline-block; max-width: 22rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom }
td .code a:not(.button) { max-width: 100% }
td:has(.one-line), td:has(> span > .code) { width: 28%; max-width: 0; min-width: 10rem } td:has(> span > .code) > span > .code { max-width: 100% }
th.more, td.more { display: none }
.one-line { display: flex; align-items: baseline; gap: var(--space); max-width: 100% }
.one-line .code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0 }
button.copy { flex: none; overflow-wrap: normal; min-height: 0; padding: 0 .375rem; border-color: transparent; background: none; font-size: var(--small); font-weight: 400; color: var(--muted) }
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
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: calc(var(--space) * 2); margin: 0 0 calc(var(--space) * 3); padding: 0; list-style: none }
.tiles li { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: calc(var(--space) * 1.75) calc(var(--space) * 2) }
.tiles .name { display: block; color: var(--muted); font-size: var(--small) }
.tiles .figure { display: block; font-size: var(--title); line-height: 1.3; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums; color: var(--text); background: none }
.tiles .figure.good { color: var(--good) } .tiles .figure.bad { color: var(--bad) } .tiles .figure.wait { color: var(--wait) } .tiles .figure.held { color: var(--held) }
.tiles svg { display: block; width: 100%; height: 2rem; margin-top: var(--space) }
.needs { margin: 0; padding: calc(var(--space) * 2) calc(var(--space) * 2) calc(var(--space) * 2) calc(var(--space) * 4) }
.needs li { margin: 0 0 var(--space) }
.note { border-left: 3px solid var(--accent); background: var(--surface); padding: var(--space) calc(var(--space) * 2); margin: 0 0 calc(var(--space) * 2) }
.note.trouble { border-color: var(--bad) }
form.row { display: flex; flex-wrap: wrap; gap: calc(var(--space) * 1.5); align-items: end }
label { display: grid; gap: 2px; font-size: var(--small); color: var(--muted) }
input, select { font: inherit; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; padding: .375rem .5rem; min-height: 2.25rem; max-width: 100% }
input.wide { width: 22rem } ::placeholder { color: var(--muted); opacity: 1 }
input[type=checkbox] { min-height: 0; width: 1.125rem; height: 1.125rem }
.actions { display: flex; flex-wrap: wrap; gap: var(--space); align-items: center }
.actions form { display: contents }
button, .button { font: inherit; font-weight: 550; min-height: 2.25rem; padding: 0 calc(var(--space) * 1.75); border-radius: 6px; border: 1px solid var(--edge); background: var(--surface); color: var(--text); cursor: pointer; display: inline-flex; align-items: center }
button:hover, .button:hover { background: var(--hover); text-decoration: none }
button.main, .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.danger, .button.danger { color: var(--bad); border-color: var(--bad) }
.asked button.danger { background: var(--bad); color: var(--on-bad) }
svg.bars { display: block; width: 100%; height: 3rem }
svg .entregue, .legend .entregue { fill: var(--mark-good) } svg .falhou { fill: var(--mark-bad) } svg .pendente { fill: var(--mark-wait) } svg .retida { fill: var(--mark-held) } svg .cancelada { fill: var(--mark-none) }
svg .grid { stroke: var(--line) } svg .axis { stroke: var(--edge) } svg text { fill: var(--muted); font: .6875rem var(--sans) }
.line { list-style: none; margin: 0; padding: calc(var(--space) * 2) }
.line li { border-left: 2px solid var(--line); margin-left: .375rem; padding: 0 0 calc(var(--space) * 2) calc(var(--space) * 2); position: relative }
.line li::before { content: ""; position: absolute; left: -.4375rem; top: .3125rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--mark-none); border: 2px solid var(--surface) }
.line li.success::before { background: var(--mark-good) } .line li.failure::before { background: var(--mark-bad) } .line li.next::before { background: var(--mark-wait) }
.line li:last-child { border-color: transparent; padding-bottom: 0 }
.two { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 calc(var(--space) * 3) }
main.entry { max-width: 30rem; padding-top: 12vh } main.entry .card { padding: calc(var(--space) * 3); margin: 0 } main.entry input { width: 100% } main.entry label { flex: 1 }
.stale { margin: 0 0 0 auto }
footer { max-width: 72rem; margin: 0 auto; padding: 0 calc(var(--space) * 3) calc(var(--space) * 4); color: var(--muted); font-size: var(--small) }
/* Start */
.heading { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: var(--space) calc(var(--space) * 3); margin: 0 0 calc(var(--space) * 2) }
ol.needs { list-style: none; padding: 0 }
ol.needs li { display: grid; grid-template-columns: 7rem minmax(0, 1fr) auto; gap: 0 var(--space); align-items: baseline; margin: 0; padding: calc(var(--space) * 1.25) calc(var(--space) * 2); border-bottom: 1px solid var(--line) }
ol.needs li:last-child { border-bottom: 0 } ol.needs li:hover { background: var(--hover) } ol.needs .badge { justify-self: start } ol.needs a { overflow-wrap: anywhere } ol.needs time { grid-column: 3; white-space: nowrap }
#traffic > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--space); margin: 0 0 var(--space) } #traffic > header p { margin: 0 }
#traffic > .tiles { margin: 0 0 var(--space) } #traffic { margin: 0 0 calc(var(--space) * 3) } #traffic > details > table { background: var(--surface); margin: var(--space) 0 0 }
svg.spark polygon { opacity: .15 } svg.spark polyline { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke: var(--none) }
svg.spark polyline.entregue { stroke: var(--good) } svg.spark polyline.falhou { stroke: var(--bad) } svg.spark polyline.retida { stroke: var(--held) }
summary { cursor: pointer; color: var(--muted); font-size: var(--small) }
/* Account, Events */
.tabs { display: flex; gap: calc(var(--space) * 3); border-bottom: 1px solid var(--line); margin: 0 0 calc(var(--space) * 2) }
.tabs a { padding: var(--space) 0; color: var(--muted); border-bottom: 2px solid transparent } .tabs a[aria-current] { color: var(--text); border-color: var(--accent) }
.chips { display: flex; flex-wrap: wrap; gap: calc(var(--space) * .75); align-items: center; margin-left: auto } .inside > .chips { margin: 0 }
.chip { display: inline-flex; align-items: center; gap: var(--space); min-height: 1.75rem; padding: 0 calc(var(--space) * 1.5); border: 1px solid var(--edge); border-radius: 99px; color: var(--text); font-size: var(--small); cursor: pointer }
.chip:hover { background: var(--hover); text-decoration: none }
.chip[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
.card > .chips { border-bottom: 1px solid var(--line) } .one-line .copy { flex: none }
td summary { color: var(--text); font-size: inherit } td details[open] summary { margin-bottom: var(--space) } td .facts { padding: 0 0 var(--space) }
@media (min-width: 44.01rem) { .lines td time small { display: inline; margin-left: var(--space) } }
/* settings, and the integrator's first page */
form.settings { display: grid; gap: calc(var(--space) * 2.5) }
.field { display: grid; gap: 4px; justify-items: start; max-width: 40rem }
.field label { color: var(--text); font-size: var(--body); font-weight: 550 }
.field input, .field select { width: 100% } .field p { margin: 0; font-size: var(--small) }
.field [aria-invalid] { border-color: var(--bad) } .field .wrong { color: var(--bad); font-weight: 550 }
label.tick { display: flex; align-items: center; gap: var(--space); font-size: var(--body); color: var(--text) }
.secret { font-size: var(--body); padding: var(--space) calc(var(--space) * 1.5); background: var(--none-ground); border-radius: 6px; overflow-wrap: anywhere }
p.inside { margin: 0 } .inside + .inside.actions { padding-top: 0 }
.secret + button.copy { min-height: 2.25rem; padding: 0 calc(var(--space) * 1.75); font-size: var(--body); font-weight: 550; color: var(--text) }
.inside > :first-child { margin-top: 0 }
.free { list-style: none; margin: 0; padding: 0 }
.free li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 calc(var(--space) * 2); min-height: 3.25rem; padding: var(--space) calc(var(--space) * 2); border-bottom: 1px solid var(--line) }
.free li:last-child { border-bottom: 0 } .free b { font-weight: 550; min-width: 18rem; overflow-wrap: anywhere } .free .button { margin-left: auto }
@media (max-width: 44rem) { .free b { flex: 1 1 8rem; min-width: 0 } .free li > span { order: 3; width: 100% } }
/* First steps, sandbox, dead letters */
.steps { list-style: none; margin: 0; padding: 0; counter-reset: step }
.steps > li { counter-increment: step }
.steps header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--space); padding: calc(var(--space) * 1.75) calc(var(--space) * 2) 0 }
.steps h2::before { content: counter(step); display: inline-flex; align-items: center; justify-content: center; width: 1.75rem; height: 1.75rem; margin-right: var(--space); border-radius: 50%; font-size: var(--body); color: var(--none); background: var(--none-ground) }
.steps .next h2::before { color: var(--on-accent); background: var(--accent) }
.steps .done h2::before { content: "✓"; color: var(--good); background: var(--good-ground) }
.steps p { margin: 0 0 var(--space) } .steps .inside { padding: var(--space) calc(var(--space) * 2) calc(var(--space) * 2) }
.steps .facts { padding: 0 0 calc(var(--space) * 1.5) }
.steps details { border-top: 1px solid var(--line) }
.steps p a, .sandbox p a:not(.button), .lead a, .group p a { text-decoration: underline }
.command { margin: var(--space) 0; padding: calc(var(--space) * 1.5); background: var(--ground); border-radius: 6px }
.sandbox { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 0 calc(var(--space) * 3); align-items: start }
.sandbox h3 { font-size: var(--body); margin: calc(var(--space) * 1.5) 0 var(--space) }
.pick { list-style: none; margin: 0; padding: 0; max-height: 44rem; overflow: auto }
.pick a { display: block; padding: calc(var(--space) * 1.25) calc(var(--space) * 2); border-bottom: 1px solid var(--line); color: var(--text); font-size: var(--small) }
.pick b { font-size: var(--body); margin-right: var(--space) }
.pick a:hover { background: var(--hover); text-decoration: none } .pick a[aria-current] { background: var(--hover); box-shadow: inset 3px 0 var(--accent) }
.inside > p:last-child { margin-bottom: 0 }
.group > header { align-items: center } .group > header .one-line { display: inline-flex; max-width: 20rem }
.group > p.inside { margin: 0; padding: var(--space) calc(var(--space) * 2) } .group > p.inside:empty { display: none }
.nowrap { white-space: nowrap }
.actions.sticky { position: sticky; top: 0; z-index: 1; background: var(--ground); padding: var(--space) 0; margin: 0 0 var(--space) }
.group summary { padding: 0 calc(var(--space) * 2) calc(var(--space) * 1.5) }
progress { width: 100%; accent-color: var(--accent) }
/* Webhook */
.health { margin: 0 0 calc(var(--space) * 2) } .health p { margin: 0 }
[data-live] > .inside { padding: calc(var(--space) * 2) }
.custom { display: contents } .custom summary { list-style: none } .custom::details-content { flex-basis: 100% } .custom form { justify-content: flex-end }
.legend { display: flex; flex-wrap: wrap; gap: var(--space) calc(var(--space) * 2.5); align-items: baseline; margin: 0 0 var(--space) } .legend small { margin-left: auto }
.swatch { width: .625rem; height: .625rem; margin-right: calc(var(--space) * .75) }
svg.chart { display: block; width: 100%; height: 172px }
svg line { fill: none } svg .hit { fill: transparent } a:hover .hit { fill: var(--hover) } svg .chosen { fill: none; stroke: var(--accent); stroke-width: 2; pointer-events: all } svg .unknown { fill: var(--mark-none); fill-opacity: .25 }
.plain { margin-top: var(--space) } .plain th { white-space: normal } .plain td, .plain th { padding: calc(var(--space) * .5) var(--space); min-width: 0 }
.numbers { border-top: 1px solid var(--line) } .numbers[open] { padding-bottom: 0 }
.speed.lead { font-size: var(--small); margin-top: calc(var(--space) * -2) }
.replay { display: flex; flex-wrap: wrap; gap: var(--space) calc(var(--space) * 2); align-items: center } .replay p { margin: 0 } progress { width: 16rem; max-width: 100%; accent-color: var(--accent) }
/* Delivery */
h3 { font-size: var(--small); font-weight: 550; color: var(--muted); margin: 0 0 var(--space) } h3 .copy { margin-left: var(--space) }
.request p { margin: 0 0 calc(var(--space) * 1.5) } .request details { margin-top: calc(var(--space) * 1.5) } .request details pre { margin-top: var(--space) }
.line details { margin-top: var(--space) } .line details ul { margin: var(--space) 0 0; padding: 0; list-style: none } .line details li { border: 0; margin: 0; padding: 0 } .line details li::before { content: none }
@media (max-width: 44rem) {
  .two, .sandbox { grid-template-columns: minmax(0, 1fr) }
  main, .bar, footer { padding-left: calc(var(--space) * 2); padding-right: calc(var(--space) * 2) }
  nav.places { order: 3; width: 100% } nav.places a { padding: var(--space) 0 }
  table, tbody, tr, td { display: block; width: 100% }
  thead { position: absolute; left: -100rem }
  tr { border-bottom: 1px solid var(--line); padding: var(--space) 0 } tbody tr:last-child { border-bottom: 0 }
  td, td.text, td:has(.one-line), td:has(> span > .code) { border: 0; padding: 2px calc(var(--space) * 2); display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: var(--space); min-width: 0; max-width: none; width: 100% }
  td a:not(.button), td span > .code { max-width: 100% }
  tbody tr:hover td { background: none }
  table.compact tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--space); padding: var(--space) calc(var(--space) * 2) }
  table.compact td.brief { display: block; width: auto; padding: 0; white-space: nowrap } table.compact td.brief::before { content: none }
  table.compact td.brief time small { display: none }
  table.compact td:not(.brief) { display: none; padding: 2px 0 } table.compact tr:has(details[open]) td:not(.brief) { display: grid; order: 2 }
  table.compact td.more { order: 1; margin-left: auto }
  td.more summary { cursor: pointer; list-style: none; padding: .375rem .75rem; color: var(--muted) } td.more summary::before { content: "▾" } td.more [open] summary::before { content: "▴" }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--space) }
  .tools { gap: var(--space) var(--space) } .tools .search { display: none }
  ol.needs time { grid-column: 2; white-space: normal }
  #traffic > .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)) } .tiles li { min-width: 0 }
  #undelivered td.number::before, #queues td.number.brief::before { content: attr(data-label); margin-right: .25rem }
  td::before { content: attr(data-label); color: var(--muted); font-size: var(--small) }
  .number { text-align: left }
  .plain { display: table } .plain thead { position: static } .plain tbody { display: table-row-group } .plain tr { display: table-row } .plain .number { text-align: right } .plain { font-size: var(--small) } .plain th { padding: 0 0 0 .25rem; font-weight: 400 } .plain time { white-space: normal } .plain td:first-child { min-width: 5.5rem }
  .plain td { display: table-cell; width: auto; padding: .25rem 0 .25rem .25rem } .plain td::before { content: none }
  form.row label, form.row input, form.row select { width: 100% }
}
@media (forced-colors: active) {
  nav.places a:not([aria-current]) { border-bottom-color: Canvas }
  .badge { border: 1px solid } svg, .line li::before { forced-color-adjust: none }
}
@media print {
  :root { color-scheme: light }
  nav.places, nav.tabs, form.row, .chips, button, .button, .tools, .skip { display: none }
  .card { overflow: visible; break-inside: avoid } main, footer { max-width: none; padding: 0 }
  .one-line .code { white-space: normal; overflow-wrap: anywhere }
}
`;
