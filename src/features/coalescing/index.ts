/**
 * Joins single calls that are made together into one request. What sends several is in `together`, which is loaded when
 * there are several.
 */
export { coalesceAdds } from "./adds.ts";
export { type Coalesce, Coalescer } from "./coalescer.ts";
export { coalesce } from "./store.ts";
