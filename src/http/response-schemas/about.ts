import * as v from "valibot";
import { partlyPublished } from "./topics.ts";
import { count, described } from "./values.ts";

export const health = v.object({ status: v.literal("ok") });

export const problem = v.object({
  type: v.string(),
  title: v.string(),
  status: count,
  code: described(v.string(), "The stable code that programs should use."),
  detail: v.string(),
  errors: v.exactOptional(
    v.array(v.object({ path: described(v.string(), "Such as `tasks[3].delay`."), message: v.string() })),
  ),
  instance: v.exactOptional(described(v.string(), "Identifies this occurrence in the server's log.")),
  published: v.exactOptional(partlyPublished),
});
