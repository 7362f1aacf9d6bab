import { createRequire, registerHooks } from "node:module";

/**
 * Loaded before netlify-cli. Its ts-api-utils is beside this project's TypeScript 7, which lacks the
 * interface that it needs; netlify-cli's own TypeScript 5 is in a deeper folder.
 */
const typescript5 = createRequire(createRequire(import.meta.url).resolve("precinct")).resolve("typescript");

registerHooks({
  resolve(specifier, context, next) {
    const wantsOld = specifier === "typescript" && context.parentURL?.includes("/ts-api-utils/");
    return next(wantsOld ? typescript5 : specifier, context);
  },
});
