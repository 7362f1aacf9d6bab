export { coalesceAdds } from "./adds.ts";
export { type Coalesce, Coalescer } from "./coalescer.ts";
export { coalesce } from "./store.ts";
