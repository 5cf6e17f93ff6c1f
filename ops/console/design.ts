/**
 * The design of the pages: tokens, base, components, pages, then other media. One type scale, one accent, light and dark. `--line` only
 * divides; `--edge` and the marks of charts (`--mark-*`) have 3:1 against every ground, since they alone show where something is.
 */
export const style = `
/* Tokens */
:root {
  color-scheme: light dark;
  --text: #16202b; --muted: #5a6675; --ground: #f6f7f9; --surface: #ffffff; --line: #e1e5ea; --edge: #7d8897; --hover: #f1f3f6;
  --accent: #3b4fd8; --on-accent: #ffffff; --on-bad: #ffffff; --focus: #6f80ff;
  --good: #0b7a4b; --good-ground: #e3f5ec; --bad: #b3261e; --bad-ground: #fdecea; --wait: #8a5300; --wait-ground: #fff3dc;
  --held: #5b3fb0; --held-ground: #efeafc; --none: #5a6675; --none-ground: #eceff3;
  --mark-good: #1a9d63; --mark-bad: #d6382d; --mark-wait: #b87400; --mark-none: #7d8897;
  --small: .75rem; --body: .875rem; --large: 1.0625rem; --title: 1.5rem;
  --near: .5rem; --inset: 1rem; --apart: 1.5rem; --radius: 8px;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e7ebf0; --muted: #9aa6b4; --ground: #0e1319; --surface: #151c24; --line: #263140; --edge: #66758a; --hover: #1b2430;
    --accent: #8f9dff; --on-accent: #0e1319; --on-bad: #0e1319; --focus: #8f9dff;
    --good: #5fd3a0; --good-ground: #10301f; --bad: #ff9a92; --bad-ground: #3a1715; --wait: #f2c063; --wait-ground: #34260a;
    --held: #bda7ff; --held-ground: #261d45; --none: #9aa6b4; --none-ground: #202a36;
    --mark-good: #3fbf85; --mark-bad: #f0564a; --mark-wait: #e0a93a; --mark-none: #8492a3;
  }
}
/* Base */
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: var(--body)/1.5 var(--sans); -webkit-text-size-adjust: 100% }
main, .bar, footer { max-width: 72rem; margin: 0 auto; padding: 0 var(--apart) }
main { padding-top: var(--apart); padding-bottom: var(--apart) }
footer { padding-bottom: 2rem; color: var(--muted); font-size: var(--small) }
h1 { font-size: var(--title); line-height: 1.25; letter-spacing: -.02em; margin: 0 0 var(--near); overflow-wrap: anywhere }
h2 { font-size: var(--large); margin: 0; letter-spacing: -.01em }
h3 { font-size: var(--small); font-weight: 550; color: var(--muted); margin: var(--inset) 0 var(--near) }
p { margin: 0 0 var(--near) } p:last-child { margin-bottom: 0 }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
p:not(.crumbs) a:not(.button) { text-decoration: underline }
code, pre, .code, .wire { font-family: var(--mono); font-size: .8125rem }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
small, .muted, .wire { color: var(--muted); font-size: var(--small) }
summary { cursor: pointer; color: var(--muted); font-size: var(--small) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px }
[tabindex="-1"]:focus { outline: 0 }
.skip { position: absolute; left: -100rem }
.skip:focus { left: var(--near); top: var(--near); background: var(--surface); padding: var(--near); z-index: 2 }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.number { text-align: right }
/* Frame */
header.top { background: var(--surface); border-bottom: 1px solid var(--line) }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--apart) }
.brand { font-weight: 650; font-size: var(--large); padding: .75rem 0; letter-spacing: -.01em }
.brand small { font-weight: 400; margin-left: var(--near); letter-spacing: 0 }
nav.places { display: flex; flex-wrap: wrap; gap: 0 var(--inset) }
nav.places a { padding: .875rem 0; color: var(--muted); border-bottom: 2px solid transparent }
nav.places a[aria-current] { color: var(--text); border-color: var(--accent) }
.tools { margin-left: auto; display: flex; align-items: center; gap: var(--inset); font-size: var(--small) }
.tools input { min-height: 1.875rem; padding: .125rem .5rem; width: 13rem; font-size: var(--small) }
.tools button { min-height: 1.875rem; padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; font-size: var(--small) }
.tools button:hover { background: none; text-decoration: underline }
.banner { background: var(--bad-ground); color: var(--bad); padding: .625rem var(--apart); margin: 0; text-align: center; font-weight: 550 }
.crumbs { color: var(--muted); font-size: var(--small) }
.heading { display: flex; flex-wrap: wrap; align-items: start; justify-content: space-between; gap: var(--near) var(--apart); margin: 0 0 var(--inset) }
.heading > div:first-child { min-width: 0 } .heading h1 { margin-bottom: .25rem }
h1 .badge { vertical-align: middle; margin-left: var(--near); letter-spacing: 0 } h1 .wire { font-weight: 400; letter-spacing: 0 }
.lead { color: var(--muted); margin: 0 0 var(--apart); max-width: 46rem }
/* Cards and notes */
.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); margin: 0 0 var(--apart); overflow: hidden }
.card > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--near); padding: .75rem var(--inset); border-bottom: 1px solid var(--line) }
.card > header p { margin: 0; color: var(--muted); font-size: var(--small) }
.card > header > :is(.button, .chips, form) { margin-left: auto; align-self: center }
.inside { padding: var(--inset) } p.inside { margin: 0 } .inside + .inside { padding-top: 0 }
.inside > :first-child { margin-top: 0 }
.facts + .inside { border-top: 1px solid var(--line); padding-top: var(--inset) }
.empty { padding: 2rem var(--inset); color: var(--muted); text-align: center; margin: 0 }
.two { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 var(--apart) } .two h3 { margin-top: 0 }
.note { border-left: 3px solid var(--accent); background: var(--surface); padding: var(--near) var(--inset); margin: 0 0 var(--inset) }
.note.trouble { border-color: var(--bad) }
.stale { margin: 0 0 0 auto }
/* Tables */
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; font-size: var(--small); font-weight: 550; color: var(--muted); padding: var(--near) var(--inset); border-bottom: 1px solid var(--line); white-space: nowrap }
td { padding: .625rem var(--inset); border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; min-width: 7rem }
tbody tr:last-child td { border-bottom: 0 } tbody tr:hover td { background: var(--hover) }
th.number { text-align: right } td.number { min-width: 0; white-space: nowrap }
td time, td .badge, td .wire { white-space: nowrap } td time, td time small, dd time small { display: block }
td a:not(.button), td span > .code { display: inline-block; max-width: 22rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom }
td .code a:not(.button) { max-width: 100% }
td:has(.one-line) { width: 28%; max-width: 0; min-width: 10rem }
td:has(> span > .code) { width: 30%; max-width: 0; min-width: 10rem } td:has(> span > .code) > span > .code { max-width: 100% }
td summary { color: inherit; font-size: inherit }
th.more, td.more { display: none }
td .copy { opacity: 0 } tr:hover .copy, td .copy:focus-visible, td .copy.copied { opacity: 1 } @media (hover: none) { td .copy { opacity: 1 } }
@media (min-width: 72rem) { .lines td:nth-child(-n + 5) time small { display: inline; margin-left: var(--near) } .lines td:has(> span > .code) { min-width: 17.5rem } .lines td > span:has(> .badge) { white-space: nowrap } }
@media (max-width: 72rem) { .card { overflow-x: auto } }
/* Badges, facts, tiles */
.badge { display: inline-block; padding: 0 var(--near); border-radius: 99px; font-size: var(--small); font-weight: 550; line-height: 1.6; white-space: nowrap; color: var(--none); background: var(--none-ground) }
.good { color: var(--good); background: var(--good-ground) } .bad { color: var(--bad); background: var(--bad-ground) }
.wait { color: var(--wait); background: var(--wait-ground) } .held { color: var(--held); background: var(--held-ground) }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: var(--inset); margin: 0; padding: var(--inset) }
.facts dt { font-size: var(--small); color: var(--muted) } .facts dd { margin: 0; overflow-wrap: anywhere }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: var(--inset); margin: 0 0 var(--near); padding: 0; list-style: none }
.tiles li { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: .75rem var(--inset); min-width: 0 }
.tiles .name { display: block; color: var(--muted); font-size: var(--small) }
.tiles .figure { display: block; font-size: var(--title); line-height: 1.3; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums; background: none }
.tiles .figure small { font-weight: 400; letter-spacing: 0; margin-right: var(--inset) }
.one-line { display: flex; align-items: baseline; gap: var(--near); max-width: 100% }
.one-line .code { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0 }
/* Forms, buttons, chips */
form.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end }
label { display: grid; gap: 2px; font-size: var(--small); color: var(--muted) }
input, select { font: inherit; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; padding: .375rem .5rem; min-height: 2.25rem; max-width: 100% }
input.wide { width: 22rem } ::placeholder { color: var(--muted); opacity: 1 }
input[type=checkbox] { min-height: 0; width: 1.125rem; height: 1.125rem; margin: 0 }
.actions { display: flex; flex-wrap: wrap; gap: var(--near); align-items: center } .actions form:not(.row) { display: contents }
button, .button { font: inherit; font-weight: 550; min-height: 2.25rem; padding: .25rem .875rem; border-radius: 6px; border: 1px solid var(--edge); background: var(--surface); color: var(--text); cursor: pointer; display: inline-flex; align-items: center; text-align: left }
button:hover, .button:hover { background: var(--hover); text-decoration: none }
button.main, .button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.danger, .button.danger { color: var(--bad); border-color: var(--bad) }
button.copy { flex: none; overflow-wrap: normal; min-height: 0; padding: 0 .375rem; border-color: transparent; background: none; font-size: var(--small); font-weight: 400; color: var(--muted) }
button.copy.large { min-height: 2.25rem; padding: 0 .875rem; font-size: var(--body); font-weight: 550; border-color: var(--edge); color: var(--text) }
button.copy.copied { color: var(--good) }
.chips { display: flex; flex-wrap: wrap; gap: .375rem; align-items: center } .chips.inside { border-bottom: 1px solid var(--line) }
.chip { display: inline-flex; align-items: center; gap: var(--near); min-height: 1.75rem; padding: 0 .75rem; border: 1px solid var(--edge); border-radius: 99px; color: var(--text); font-size: var(--small); cursor: pointer }
.chip:hover { background: var(--hover); text-decoration: none }
.chip[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
.custom { display: contents } .custom summary { list-style: none } .custom::details-content { flex-basis: 100% } .custom form { justify-content: flex-end }
/* Charts */
svg .entregue { fill: var(--mark-good) } svg .falhou { fill: var(--mark-bad) } svg .pendente { fill: var(--mark-wait) }
svg .grid { stroke: var(--line) } svg .axis { stroke: var(--edge) } svg text { fill: var(--muted); font: .6875rem var(--sans) }
svg line { fill: none } svg .hit { fill: transparent } a:hover .hit { fill: var(--hover) } svg .unknown { fill: var(--mark-none); fill-opacity: .25 }
svg .chosen { fill: none; stroke: var(--accent); stroke-width: 2; pointer-events: all }
svg.chart { display: block; width: calc(100% - 2.5rem); height: 172px; margin-left: 2.5rem; overflow: visible }
.legend { display: flex; flex-wrap: wrap; gap: var(--near) 1.25rem; align-items: baseline; margin: 0 0 var(--near) } .legend small { margin-left: auto }
.swatch { width: .625rem; height: .625rem; margin-right: .375rem }
.numbers { border-top: 1px solid var(--line) } .inside + .numbers { padding-top: .75rem; padding-bottom: .75rem }
.plain { margin-top: var(--near) } .plain th { white-space: normal } .plain td, .plain th { padding: .25rem var(--near); min-width: 0 }
/* Entry, questions */
main.entry { max-width: 30rem; padding-top: 12vh } main.entry .card { padding: var(--apart) } main.entry input { width: 100% } main.entry label { flex: 1 }
.asked { max-width: 40rem; padding: var(--apart) } .asked .means { color: var(--muted); margin: 0 0 var(--apart) } .asked .means b { color: var(--text) }
.asked button.danger { background: var(--bad); color: var(--on-bad) }
/* Webhooks, webhook */
#webhooks td time small { display: none } #speed { margin: 0 0 var(--apart) }
/* Replay, delivery */
.replay { display: flex; flex-wrap: wrap; gap: var(--near) var(--inset); align-items: center } .replay p { margin: 0 }
.line { list-style: none; margin: 0; padding: var(--inset) }
.line > li { border-left: 2px solid var(--line); margin-left: .375rem; padding: 0 0 var(--inset) var(--inset); position: relative }
.line > li::before { content: ""; position: absolute; left: -.4375rem; top: .3125rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--mark-none); border: 2px solid var(--surface) }
.line > .success::before { background: var(--mark-good) } .line > .failure::before { background: var(--mark-bad) } .line > .next::before { background: var(--mark-wait) }
.line > li:last-child { border-color: transparent; padding-bottom: 0 }
.line details { margin-top: var(--near) } .line details ul { margin: var(--near) 0 0; padding: 0; list-style: none }
.request p { margin: 0 0 .75rem } .request details { margin-top: .75rem } .request details pre { margin-top: var(--near) }
/* Settings, and the first page */
form.settings { display: grid; gap: 1.25rem }
.field { display: grid; gap: 4px; justify-items: start; max-width: 40rem }
.field label { color: var(--text); font-size: var(--body); font-weight: 550 }
.field input, .field select { width: 100% } .field p { margin: 0; font-size: var(--small) }
.field [aria-invalid] { border-color: var(--bad) } .field .wrong { color: var(--bad); font-weight: 550 }
label.tick { display: flex; align-items: center; gap: var(--near); font-size: var(--body); color: var(--text) }
.secret { font-size: var(--body); padding: var(--near) .75rem; background: var(--none-ground); border-radius: 6px; overflow-wrap: anywhere }
.free { list-style: none; margin: 0; padding: 0 }
.free li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--inset); min-height: 3.25rem; padding: var(--near) var(--inset); border-bottom: 1px solid var(--line) }
.free li:last-child { border-bottom: 0 } .free b { font-weight: 550; min-width: 18rem; overflow-wrap: anywhere } .free .button { margin-left: auto }
/* First steps */
.steps { list-style: none; margin: 0; padding: 0; counter-reset: step } .steps > li { counter-increment: step }
.steps header { display: flex; flex-wrap: wrap; align-items: center; gap: var(--near); padding: .875rem var(--inset) 0 }
.steps h2::before { content: counter(step); display: inline-flex; align-items: center; justify-content: center; width: 1.75rem; height: 1.75rem; margin-right: var(--near); border-radius: 50%; font-size: var(--body); color: var(--none); background: var(--none-ground) }
.steps .next h2::before { color: var(--on-accent); background: var(--accent) } .steps .done h2::before { content: "✓"; color: var(--good); background: var(--good-ground) }
.steps .inside { padding: var(--near) var(--inset) .75rem } .steps .facts { padding: 0 0 .75rem } .steps details { border-top: 1px solid var(--line) }
.command { margin: var(--near) 0; padding: .75rem; background: var(--ground); border-radius: 6px }
/* A phone */
@media (max-width: 44rem) {
  main, .bar, footer { padding-left: var(--inset); padding-right: var(--inset) }
  nav.places { order: 3; width: 100%; gap: 0 .75rem; font-size: .8125rem } nav.places a { padding: var(--near) 0 }
  .tools { gap: var(--near) } .tools .search { display: none }
  .heading > form.row { width: 100%; flex-wrap: nowrap }
  form.row label, form.row input, form.row select { width: 100% }
  .two { grid-template-columns: minmax(0, 1fr) } .two.inside { gap: var(--inset) }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--near) }
  .tiles .figure small { margin-right: .25rem } #speed .figure { font-size: var(--large) }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)) } .facts div:has(.one-line, .code) { grid-column: 1 / 3 }
  .bar { gap: 0 var(--near) } .brand { display: flex; align-items: baseline; flex: 1; min-width: 0 } .brand small { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
  svg.chart { width: calc(100% - 2rem); margin-left: 2rem } svg .odd { display: none }
  .free b { flex: 1 1 8rem; min-width: 0 } .free li > span { order: 3; width: 100% }
  table, tbody, tr, td { display: block; width: 100% }
  thead { position: absolute; left: -100rem }
  tr { border-bottom: 1px solid var(--line); padding: var(--near) 0 } tbody tr:last-child { border-bottom: 0 } tbody tr:hover td { background: none }
  td, td:has(.one-line), td:has(> span > .code) { border: 0; padding: 2px var(--inset); display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: var(--near); min-width: 0; max-width: none; width: 100% }
  td::before { content: attr(data-label); color: var(--muted); font-size: var(--small) } .number, th.number { text-align: left }
  td a:not(.button), td span > .code { max-width: 100% }
  table.compact tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .375rem; padding: var(--near) 2.25rem var(--near) var(--inset); min-height: 2.5rem; position: relative }
  table.compact td.brief { display: block; width: auto; padding: 0; white-space: nowrap; max-width: 100% } table.compact td.brief::before { content: none }
  table.compact td.brief time { font-size: var(--small) } table.compact td.brief time small, table.compact td.brief .wire { display: none }
  table.compact td:not(.brief) { display: none; padding: 2px 0 } table.compact tr:has(details[open]) td:not(.brief) { display: grid; order: 2 }
  table.compact td.more { position: absolute; right: 0; top: .125rem } table.compact td:has(> span:empty) { display: none }
  td.more summary { list-style: none; padding: .5rem .75rem } td.more summary::before { content: "▾" } td.more [open] summary::before { content: "▴" }
  .plain { display: table; font-size: var(--small) } .plain thead { position: static } .plain tbody { display: table-row-group } .plain tr { display: table-row }
  .plain th { padding: 0 0 0 .25rem; font-weight: 400 } .plain td { display: table-cell; width: auto; padding: .25rem 0 .25rem .25rem } .plain td::before { content: none }
  .plain .number { text-align: right } .plain time { white-space: normal } .plain td:first-child { min-width: 5.5rem }
}
/* Forced colours, paper */
@media (forced-colors: active) {
  nav.places a:not([aria-current]) { border-bottom-color: Canvas }
  .badge { border: 1px solid } svg, .line > li::before { forced-color-adjust: none }
}
@media print {
  :root { color-scheme: light }
  nav.places, form.row, .chips, button, .button, .tools, .skip { display: none }
  .card { overflow: visible; break-inside: avoid } main, footer { max-width: none; padding: 0 }
  .one-line .code { white-space: normal; overflow-wrap: anywhere }
}
`;
