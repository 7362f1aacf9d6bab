import type { Either } from "./rig.ts";

/** Every call of a queue, most of them with an effect. Returns all answers. */
export async function day(queue: Either): Promise<unknown[]> {
  const worker = { name: "w", incarnation: "1", node: "fra1", pid: 7, silentAfter: "1h" } as const;
  const answers: unknown[] = [];
  const note = <T>(answer: T): T => {
    answers.push(answer);
    return answer;
  };
  note(await queue.enqueue({ n: 1 }, { id: "a", headers: { trace: "ü;\n" }, lease: "5m" }));
  note(await queue.enqueue("another", { id: "a" }));
  note(await queue.enqueue("generated"));
  note(await queue.enqueueMany([]));
  const several = ["b", "c", "d", "e", "b"].map((id) => ({ id, payload: id, maxAttempts: 2 }));
  note(await queue.enqueueMany(several));
  for (const payload of [1, 2]) note(await queue.enqueue(payload, { dedup: { key: "k", window: "1h" } }));
  const kept = { maxAttempts: 0, resultTtl: 0, deadTtl: "1d" } as const;
  note(await queue.enqueue(4, { id: "f", delay: "1h", group: "g;%", priority: 9, ...kept }));
  for (const payload of [5, 6])
    note(await queue.enqueue(payload, { id: "u", at: 4_000_000_000_000, unique: "24h" }));
  // Without the time to ask again, which depends on the copy that was answered.
  const [a, generated, b] = note([...(await queue.dequeue({ max: 3, worker, lease: "1m" }))]);
  note(await a?.extend("1h", { progress: 1 }));
  note(await a?.complete("result"));
  note(await generated?.reject("no"));
  note(await b?.requeue());
  note(await queue.cancel("d"));
  const [c] = note([...(await queue.dequeue({ worker }))]);
  note(await queue.cancel("c"));
  note(await queue.heartbeat(worker, { lease: "1h" }));
  note(await queue.heartbeat({ name: "idle" }));
  const receipt = c?.receipt ?? "";
  const { settled, tasks } = await queue.settleAndDequeue([{ receipt, outcome: "requeue" }], { max: 10 });
  note([settled, [...tasks]]);
  const settlements = tasks.map((task) => ({
    receipt: task.receipt,
    outcome: "requeue" as const,
    delay: "1h" as const,
  }));
  note(await queue.settle(settlements));
  note([...(await queue.dequeue({ max: 10 }))]);
  note([...(await queue.settleAndDequeue([], { max: 1 })).tasks]);
  // Pending at the end: a late copy of a dequeue that found nothing must not lease it.
  note(await queue.enqueue("left", { id: "left" }));
  note(await queue.enqueue("left", { id: "left-too", again: true }));
  for (const id of ["a", "b", "f", "u"]) note(await queue.get(id));
  note(await queue.counts());
  return answers;
}
