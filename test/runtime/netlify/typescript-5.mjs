import { createRequire, registerHooks } from "node:module";

/**
 * Loaded before netlify-cli. Its ts-api-utils lies beside this project's TypeScript 7, which has not the interface that it
 * wants; the TypeScript 5 of netlify-cli's own lies deeper.
 */
const typescript5 = createRequire(createRequire(import.meta.url).resolve("precinct")).resolve("typescript");

registerHooks({
  resolve(specifier, context, next) {
    const wantsOld = specifier === "typescript" && context.parentURL?.includes("/ts-api-utils/");
    return next(wantsOld ? typescript5 : specifier, context);
  },
});
