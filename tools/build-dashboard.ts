// Bundles the page of the dashboard into src/dashboard/page.gen.ts. With --check it only compares.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const target = "src/dashboard/page.gen.ts";

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: { app: "src/dashboard/page/main.tsx", style: "src/dashboard/page/style.css" },
  outdir: ".",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "ascii",
  define: { "process.env.NODE_ENV": '"production"' },
  write: false,
});

const types = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const icon = { path: "icon.svg", text: readFileSync(`${root}/src/dashboard/page/icon.svg`, "utf8").trim() };
const files = [...outputFiles, icon].map(({ path, text }) => {
  const [, name = "", ending = ""] = /(\w+)\.(js|css|svg)$/.exec(path) ?? [];
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return { name: `${name}-${hash}.${ending}`, type: types[ending as keyof typeof types], text };
});
const named = (ending: string) => files.find(({ name }) => name.endsWith(ending))?.name ?? "";

// Relative to /dashboard, so that it is right wherever the deployment is mounted.
const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Sluice</title>
<link rel="icon" href="dashboard/assets/${named(".svg")}">
<link rel="stylesheet" href="dashboard/assets/${named(".css")}">
<script type="module" src="dashboard/assets/${named(".js")}"></script>
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

const size = gzipSync(html).length + files.reduce((sum, file) => sum + gzipSync(file.text).length, 0);
if (process.argv.includes("--check")) {
  if (readFileSync(`${root}/${target}`, "utf8") !== text) {
    console.error(`${target} is not current: run npm run dashboard`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(`${root}/${target}`, text);
  console.log(`${target}: ${(size / 1_000).toFixed(1)} KB gzipped`);
}
