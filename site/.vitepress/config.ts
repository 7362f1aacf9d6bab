import process from "node:process";
import { defineConfig } from "vitepress";
import { placeOf, REFERENCE, slugify, textOf, titleOf, tree } from "../tree.ts";

const linkOf = (place: string) => `/${place.replace(/(?:^|(?<=\/))index\.md$/, "").replace(/\.md$/, "")}`;

const sidebar = tree.map(({ title, pages }) => ({
  text: title,
  collapsed: title !== "Start" && title !== "Platforms",
  items: [
    ...pages.map((page) => ({ text: titleOf(textOf(page)), link: linkOf(placeOf(page)) })),
    ...(pages.includes("docs/http.md") ? [{ text: "HTTP reference", link: linkOf(REFERENCE) }] : []),
  ],
}));

export default defineConfig({
  title: "Sluice",
  description: "A reliable work queue for serverless functions and servers, in TypeScript",
  // The path below which a host serves the site, such as "/sluice/".
  base: process.env["SITE_BASE"] ?? "/",
  srcDir: ".staged",
  srcExclude: ["public/**"],
  outDir: "dist",
  cacheDir: ".cache",
  metaChunk: true,
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: { slugify },
    // Vue would read two braces as code of its own.
    config({ renderer }) {
      for (const name of ["text", "code_inline"] as const) {
        const render = renderer.rules[name];
        renderer.rules[name] = (...args) => render?.(...args).replaceAll("{{", "&#123;&#123;") ?? "";
      }
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Is it for me?", link: "/is-it-for-me" },
      { text: "How it works", link: "/how-it-works" },
      { text: "Platforms", link: "/platforms/" },
      { text: "HTTP reference", link: linkOf(REFERENCE) },
    ],
  },
});
