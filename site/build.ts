/** `npm run docs`: builds the site of the documentation into site/dist, for any host of static files. */
import { build } from "vitepress";
import { stage } from "./stage.ts";

stage();
await build(import.meta.dirname);
