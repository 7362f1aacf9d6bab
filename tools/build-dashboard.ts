// Bundles the page of the dashboard into src/dashboard/page.gen.ts. With --check it only compares.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = "src/dashboard/page.gen.ts";

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: { app: "src/dashboard/page/main.tsx", style: "src/dashboard/page/style.css" },
  outdir: ".",
  // Names have a hash of the content: browsers keep the files for ever.
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  // What `import()` loads is apart.
  splitting: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "ascii",
  define: { "process.env.NODE_ENV": '"production"' },
  write: false,
  metafile: true,
});

const types = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const icon = readFileSync(`${root}/src/dashboard/page/icon.svg`, "utf8").trim();
const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
const files = [...outputFiles, { path: iconName, text: icon }].map(({ path, text }) => {
  const type = types[extname(path).slice(1) as keyof typeof types];
  return { name: basename(path), type, text };
});
const outputs = Object.entries(metafile.outputs);
const outputOf = (source: string) => {
  const found = outputs.find(([, { entryPoint }]) => entryPoint === `src/dashboard/page/${source}`);
  if (!found) throw new Error(`${source} was not bundled`);
  return { name: basename(found[0]), ...found[1] };
};
const app = outputOf("main.tsx");
const preloaded = app.imports.filter(({ kind }) => kind === "import-statement");

// Relative to /dashboard, so that it is right wherever the deployment is mounted.
const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Sluice</title>
<link rel="icon" href="dashboard/assets/${iconName}">
<link rel="stylesheet" href="dashboard/assets/${outputOf("style.css").name}">
${preloaded.map(({ path }) => `<link rel="modulepreload" href="dashboard/assets/${basename(path)}">`).join("\n")}
<script type="module" src="dashboard/assets/${app.name}"></script>
</head>
<body>
<div id="app"><noscript>The dashboard needs JavaScript.</noscript></div>
</body>
</html>
`;

const licence = readFileSync(`${root}/node_modules/preact/LICENSE`, "utf8").trim();
const text = `// Written by \`npm run dashboard\` from src/dashboard/page. Do not edit.
/*
The page contains Preact:

${licence}
*/

/** The files of the page, with the hashes of their contents in their names. */
export const files: readonly { readonly name: string; readonly type: string; readonly text: string }[] = ${JSON.stringify(files, null, 2)};

/** The page. Its links are relative to \`/dashboard\`. */
export const html = ${JSON.stringify(html)};
`;

const atFirst = files.filter(({ name }) => html.includes(name));
const sizeOf = (texts: readonly string[]) =>
  (texts.reduce((sum, one) => sum + gzipSync(one).length, 0) / 1_000).toFixed(1);
if (process.argv.includes("--check")) {
  if (readFileSync(`${root}/${target}`, "utf8") !== text) {
    console.error(`${target} is not current: run npm run dashboard`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(`${root}/${target}`, text);
  const first = sizeOf([html, ...atFirst.map((file) => file.text)]);
  const later = sizeOf(files.filter((file) => !atFirst.includes(file)).map((file) => file.text));
  console.log(`${target}: ${first} KB gzipped, and ${later} KB that are loaded when they are needed`);
}
