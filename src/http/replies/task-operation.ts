import * as v from "valibot";
import { taskId } from "../schemas/values.ts";
import { task } from "./tasks.ts";
import { base64, count, described, nextCursor } from "./values.ts";

export const listed = v.object({
  ...task.entries,
  payload: v.exactOptional(
    described(v.unknown(), "Where payloads were asked for, and the task still has one."),
  ),
  payloadEncoding: v.exactOptional(base64("payload")),
});

const unreadable = described(
  count,
  "Tasks left out because a newer release of Sluice wrote their records, or because those are broken.",
);

export const listedPage = v.object({ tasks: v.array(listed), cursor: nextCursor, unreadable });

export const taskDeleted = v.object({ id: taskId, deleted: v.literal(true) });

const goOn = described(
  v.nullable(v.string()),
  "Call again with it to go on; null where nothing is left to do.",
);

export const redriven = v.object({
  redriven: described(count, "With `dryRun`, how many would be."),
  refused: described(
    v.array(
      v.object({
        id: taskId,
        code: v.picklist(["not_found", "not_dead_letter", "lease_lost", "newer_schema"]),
      }),
    ),
    "Of the ids that were given, those that were not redriven.",
  ),
  cursor: goOn,
  unreadable,
});

export const purged = v.object({ purged: count, cursor: goOn, unreadable });
