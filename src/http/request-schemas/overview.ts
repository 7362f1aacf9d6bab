import * as v from "valibot";
import { fields } from "../request/validate.ts";

/** The most queues of one overview. */
const MAX_OVERVIEWS = 100;

const namesForm = `must be 1 to ${MAX_OVERVIEWS} names of queues with commas between, each once`;
const name = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}";

/** The query of the overview. */
export const overviewQuery = fields({
  queues: v.pipe(
    v.string(),
    v.regex(new RegExp(`^${name}(?:,${name}){0,${MAX_OVERVIEWS - 1}}$`), namesForm),
    v.check((text) => new Set(text.split(",")).size === text.split(",").length, namesForm),
  ),
});
