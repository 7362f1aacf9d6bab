import { change, drop, type LawMutants, never } from "../mutant.ts";

export const consumers: LawMutants = {
  "a suspect begins beside running tasks": {
    src: change("!mayBeginSuspect() || _", "!mayBeginSuspect()"),
    breaks: "law 11: a task that kills its process takes others to the dead letters",
  },
  "a drain dequeues while a suspect runs": {
    src: change("!this.#isHeld && _1", "_1"),
    breaks: "law 11: a task that kills its process takes others to the dead letters",
  },
  "tasks that were not begun are not handed back": {
    src: change("this.#handBack(this.#waiting.splice(0))", "this.#waiting.splice(0)"),
    breaks: "I8: tasks of a drain that ended wait for their leases to expire",
  },
  "a handler whose task was cancelled is never given up": {
    src: never("call.endedAt === undefined && call.tasks.every(({ isStopped }) => isStopped)"),
    breaks: "cancelling: a handler that hangs holds its place until the drain ends",
  },
  "a settlement whose request failed is forgotten": {
    src: drop("this.buffer.putBack(settlements);"),
    breaks: "law 10: a task that is done is delivered and done again",
  },
  "a RetryAfter is always charged": {
    src: change(
      '{ outcome: "requeue", delay, count, queue, error: _1 }',
      '{ outcome: "requeue", delay, queue, error: _1 }',
    ),
    breaks: "I5: a service that asks for a pause uses up the attempts",
  },
  "a drain that waits pulls again as soon as a handler has ended": {
    src: never("!isDue(gatherUntil)"),
    breaks: "law 3: a trickle of tasks costs a request each",
  },
  "a failed hook fails its call": {
    src: change("log(hookFailed(name, subject.queue, subject.id, error));", "throw error;"),
    breaks: "law 10: an alert that cannot be sent ends the process",
  },
  "a signature may come from the future": {
    src: change("Math.abs(_1 - Number(timestamp))", "_1 - Number(timestamp)"),
    breaks: "access: a wake that was recorded is valid for as long as its signer chose",
  },
  "an encrypted payload is compared": {
    src: change("payload.startsWith(_) ? _ : payload", "payload"),
    breaks: "law 5: a producer that encrypts is refused when it repeats its call",
  },
  "the short form of an error is not encrypted": {
    src: change(
      "all([short, plain.text], sealed)",
      "all([short, plain.text], (text) => (text === short ? text : sealed(text)))",
    ),
    breaks: "access: Redis sees what only holders of the key may see",
  },
  "a caller may enqueue a reference": {
    in: "encodePayload",
    src: never("isReference(payload)"),
    breaks: "access: a task becomes undeliverable by what its producer sent",
  },
  "a reference is delivered as a payload": {
    src: drop("if (isSealed) throw refusalOf(kind, stored);"),
    breaks: "law 9: a consumer without the option completes the task without having seen its payload",
  },
  "a dead letter loses its object": {
    in: "keepsNoPayload",
    src: change('if (result.state !== "rejected") return false;', "return true;"),
    breaks: "law 9: the dead letter cannot be redriven",
  },
  "a lost lease removes the object": {
    in: "keepsNoPayload",
    src: change("if (!result.ok) return false;", "if (!result.ok) return true;"),
    breaks: "law 9: the holder that comes too late takes the payload from the one that works on the task",
  },
  "an orphan is removed at any age": {
    src: change("page.objects.filter(_)", "page.objects"),
    breaks: "law 9: a task that is enqueued while the sweep runs has no payload",
  },
  "the orphan pass skips partitions": {
    src: change("[0, ...noted, ...partitionsOf(map)]", "[0]"),
    breaks: "law 9: the payloads of tasks in other partitions are removed",
  },
  "a damaged object is delivered": {
    src: change("!found || found.some(_)", "!found"),
    breaks: "law 9: a handler works with a payload that no producer sent",
  },
  "a dequeue returns tasks that were leased to another consumer meanwhile": {
    src: change("held.filter(isLeased)", "held"),
    breaks: "I2: two handlers work on one task, and the work of one is lost",
  },
  "work whose context manager failed runs twice": {
    src: change("ended ?? run()", "run()"),
    breaks: "law 5: each enqueue is sent twice",
  },
};
