import * as v from "valibot";
import { taskId } from "../request-schemas/values.ts";
import { task } from "./tasks.ts";
import { count, described, nextCursor } from "./values.ts";

const unreadable = described(
  count,
  "Tasks that were left out because their records are broken or of a newer release of Sluice.",
);

export const listedPage = v.object({ tasks: v.array(task), cursor: nextCursor, unreadable });

export const taskDeleted = v.object({ id: taskId, deleted: v.literal(true) });

const continueCursor = described(
  v.nullable(v.string()),
  "Call again with it to continue; null if nothing is left.",
);

export const redriven = v.object({
  redriven: described(count, "Redriven tasks; with `dryRun`, the tasks that would be redriven."),
  refused: described(
    v.array(
      v.object({
        id: taskId,
        code: v.picklist(["not_found", "not_dead_letter", "lease_lost", "newer_schema"]),
      }),
    ),
    "The given ids that were not redriven, and why.",
  ),
  cursor: continueCursor,
  unreadable,
});

export const purged = v.object({ purged: count, cursor: continueCursor, unreadable });
