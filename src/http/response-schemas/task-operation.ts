import * as v from "valibot";
import { name, taskId } from "../request-schemas/values.ts";
import { task } from "./tasks.ts";
import { count, described, instant, nextCursor, reason } from "./values.ts";

const unreadable = described(
  count,
  "Tasks that were left out because their records are broken or of a newer release of Sluice.",
);

/** A task as a list has it. */
export const listedTask = v.object({
  ...task.entries,
  preview: v.exactOptional(
    described(
      v.string(),
      "With `payloads=preview`: the first 200 characters of the payload as JSON, with `…` if it has more.",
    ),
  ),
  previewOmitted: v.exactOptional(
    described(
      v.picklist(["bytes", "encrypted", "external"]),
      "Why a payload has no preview: it is bytes, encrypted, or in an object store.",
    ),
  ),
});

export const listedPage = v.object({ tasks: v.array(listedTask), cursor: nextCursor, unreadable });

export const taskDeleted = v.object({ id: taskId, deleted: v.literal(true) });

const refusedWith = <const Codes extends readonly string[]>(...codes: Codes) =>
  v.object({ id: taskId, ok: v.literal(false), code: v.picklist(codes) });

export const cancelledMany = v.object({
  results: described(
    v.array(
      v.union([
        v.object({ id: taskId, ok: v.literal(true), state: v.picklist(["rejected", "working"]) }),
        refusedWith("not_found", "already_ended", "lease_lost", "newer_schema"),
      ]),
    ),
    "What became of each task, in the order of the ids. `working`: its holder gets `cancelRequested`.",
  ),
});

export const deletedMany = v.object({
  results: described(
    v.array(
      v.union([
        v.object({ id: taskId, ok: v.literal(true) }),
        refusedWith("not_found", "alive", "newer_schema"),
      ]),
    ),
    "What became of each task, in the order of the ids.",
  ),
});

const times = {
  count,
  firstAt: instant("When the first of them died"),
  lastAt: instant("When the last of them died"),
};

export const deadLetters = v.object({
  counted: described(count, "How many dead letters this request has counted, the newest first."),
  causes: described(
    v.array(
      v.object({
        reason,
        error: described(v.string(), "The error without ids and numbers, which are `…`."),
        text: described(
          v.nullable(v.string()),
          "The longest text that all errors of the cause have. With `reason` it is the filter of the cause. null if there is none.",
        ),
        ...times,
        latest: v.object({ id: taskId, lease: count }),
      }),
    ),
    "By cause, the most frequent first, at most 100.",
  ),
  groups: described(
    v.array(v.object({ group: v.nullable(name), ...times })),
    "By group, the most frequent first, at most 100; null for those without a group.",
  ),
  otherCauses: described(count, "How many of them have other causes."),
  otherGroups: described(count, "How many of them are of other groups."),
  cursor: described(v.nullable(v.string()), "To count on; null if all were counted."),
  unreadable,
});

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
