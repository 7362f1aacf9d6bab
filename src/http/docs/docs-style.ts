export const style = `
:root { color-scheme: light dark; --text: #1c2330; --soft: #5a6474; --back: #fff; --box: #f4f6f9;
  --line: #d9dee6; --link: #0b5cad; --get: #17683a; --post: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ee; --soft: #9aa5b5; --back: #12161c;
  --box: #1b212a; --line: #333c49; --link: #7db8f5; --get: #6fd39a; --post: #f0b25e; } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2rem 1rem 6rem; max-width: 60rem; background: var(--back);
  color: var(--text); font: 16px/1.55 system-ui, sans-serif }
h1, h2, h3 { line-height: 1.2; margin: 2.5rem 0 .5rem }
h2 { border-bottom: 1px solid var(--line); padding-bottom: .3rem }
h4 { margin: 1.2rem 0 .3rem; color: var(--soft); font-size: .8rem; text-transform: uppercase;
  letter-spacing: .05em }
p { margin: .4rem 0; max-width: 46rem }
a { color: var(--link) }
code, pre { font: .86em/1.5 ui-monospace, monospace }
code { background: var(--box); border-radius: 3px; padding: .1em .3em; overflow-wrap: anywhere }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .7rem 1rem;
  overflow-x: auto; margin: .4rem 0 }
pre code { background: none; padding: 0; overflow-wrap: normal }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: 0 1rem }
details > summary { cursor: pointer; padding: .6rem 0; margin: 0 -.2rem }
details[open] { padding-bottom: 1rem }
.route > summary { font-weight: 600 }
.method { display: inline-block; min-width: 4.2em; font: 700 .86em ui-monospace, monospace }
.get { color: var(--get) } .post, .patch, .delete { color: var(--post) }
.form { margin-top: 1rem; font-weight: 600 }
.soft { color: var(--soft); font-weight: 400 }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .7rem .35rem 0;
  border-top: 1px solid var(--line) }
th { color: var(--soft); font-weight: 500; border: 0 }
td:first-child { white-space: nowrap }
`;
