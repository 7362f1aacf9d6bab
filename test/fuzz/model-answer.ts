import type { Operation } from "../model/operations.ts";
import { isObject } from "./document.ts";
import type { Answered } from "./worker-stack.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The library's answer to the operation, from an answer over HTTP. */
export function libraryAnswer({ does }: Operation, { status, text }: Answered): unknown {
  const body = JSON.parse(text) as Fields;
  if (status >= 400) return refusal(does, body);
  switch (does) {
    case "enqueue":
      return body["tasks"] ?? [body];
    case "dequeue":
      return batchOf(body);
    case "settle": {
      const { results, pull } = body;
      return isObject(pull) ? { settled: results, tasks: batchOf(pull) } : results;
    }
    case "cancel":
      return { ok: true, state: body["state"] };
    case "remove":
    case "removeSchedule":
    case "drop":
      return { ok: true };
    case "switchSchedule":
      return { ok: true, schedule: body };
    case "listSchedules":
      return body["schedules"];
    case "heartbeat":
      return { ok: true, ...body };
    case "fail": {
      const { name: _, ...failed } = body;
      return failed;
    }
    default:
      return body;
  }
}

function refusal(does: Operation["does"], { code, detail }: Fields): unknown {
  if ((does === "get" || does === "getSchedule") && code === "not_found") return null;
  if (code === "queue_full") return { refused: code };
  // The library returns the number, the problem a sentence.
  const working = code === "still_working" && { working: Number.parseInt(String(detail), 10) };
  return { ok: false, code, ...working };
}

/** A batch with the time of the next due task. Fields that a task does not have are undefined. */
function batchOf({ tasks, nextDueAt, paused }: Fields): unknown {
  const batch = (tasks as readonly object[]).map((task) => ({
    headers: undefined,
    group: undefined,
    ...task,
  }));
  return Object.assign(batch, { nextDueAt, paused });
}
