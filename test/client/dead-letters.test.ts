import { expect, test } from "vitest";
import { z } from "zod";
import type { ClientQueueOptions } from "../../src/client/index.ts";
import { drain } from "../../src/drain/drain.ts";
import type { DeadLetter, TaskFailure } from "../../src/index.ts";
import { letter } from "../support/dead-letters.ts";
import { useServer } from "./rig.ts";

const server = useServer();

const message = "payload must match the schema of the queue";

/** A client's queue, and the dead letters that it reports. */
function watched(options: ClientQueueOptions = {}) {
  const letters: DeadLetter[] = [];
  const onDeadLetter = (one: DeadLetter) => void letters.push(one);
  return { letters, queue: server.client().queue("emails", { ...options, onDeadLetter }) };
}

const enqueue = (...ids: string[]) =>
  server.direct("emails").enqueueMany(ids.map((id) => ({ payload: id, id, maxAttempts: 1 })));

test("a client's queue reports the dead letters of its settles and invalid payloads", async () => {
  const { letters, queue } = watched({ schema: z.string().max(1) });
  await enqueue("a", "b", "c", "misfit");
  const [a, b, c] = await queue.dequeue({ max: 10 });
  await a?.reject(new TypeError("gone"));
  await queue.settleAndDequeue([{ receipt: b?.receipt ?? "", outcome: "requeue", error: "no" }]);
  await c?.complete();
  expect(letters).toEqual([
    letter("misfit", "rejected", { error: { name: "SchemaError", message } }),
    letter("a", "rejected", {
      error: { name: "TypeError", message: "gone", stack: expect.stringMatching(/\n +at /) as string },
    }),
    letter("b", "attempts_exhausted", { error: { message: "no" } }),
  ]);
});

test("a drain over HTTP reports each failed task and each dead letter once, even if a reply is lost", async () => {
  const { letters, queue } = watched();
  await enqueue("a");
  const failures: TaskFailure[] = [];
  await drain(
    queue,
    () => {
      server.way().faults = ["lost reply"];
      throw new Error("HTTP 503");
    },
    { onFailure: (failure) => void failures.push(failure) },
  );
  const error = { name: "Error", message: "HTTP 503", stack: expect.stringMatching(/\n +at /) as string };
  expect(letters).toEqual([letter("a", "attempts_exhausted", { error })]);
  expect(failures).toMatchObject([{ queue: "emails", id: "a", attempt: 1, next: "dead_letter", error }]);
});

test("a client's hook must be a function", () => {
  expect(() => server.client().queue("emails", { onDeadLetter: 1 as never })).toThrow(
    "onDeadLetter must be a function",
  );
});
