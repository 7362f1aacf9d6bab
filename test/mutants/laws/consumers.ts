import { change, drop, type LawMutants, never } from "../mutant.ts";

export const consumers: LawMutants = {
  "a suspect begins beside running tasks": {
    breaks: "law 11",
    src: change("!mayBeginSuspect() || _", "!mayBeginSuspect()"),
    because: "a task that kills its process takes others to the dead letters",
  },
  "a drain dequeues while a suspect runs": {
    breaks: "law 11",
    src: change("!this.#isHeld && _1", "_1"),
    because: "a task that kills its process takes others to the dead letters",
  },
  "tasks that were not begun are not handed back": {
    breaks: "I8",
    src: change("this.#handBack(this.#waiting.splice(0))", "this.#waiting.splice(0)"),
    because: "tasks of a drain that ended wait for their leases to expire",
  },
  "a settlement whose request failed is forgotten": {
    breaks: "law 10",
    src: drop("this.buffer.putBack(settlements);"),
    because: "a task that is done is delivered and done again",
  },
  "a RetryAfter is always charged": {
    breaks: "I5",
    src: change(
      '{ outcome: "requeue", delay, count, error: _1 }',
      '{ outcome: "requeue", delay, error: _1 }',
    ),
    because: "a service that asks for a pause uses up the attempts",
  },
  "a drain that waits pulls again as soon as a handler has ended": {
    breaks: "law 3",
    src: never("!this.#isDue(gatherUntil)"),
    because: "a trickle of tasks costs a request each",
  },
  "a failed hook fails its call": {
    breaks: "law 10",
    src: change("console.error(JSON.stringify({ [name]: queue, ..._ }));", "throw error;"),
    because: "an alert that cannot be sent ends the process",
  },
  "a signature may come from the future": {
    breaks: "access",
    src: change("Math.abs(_1 - Number(timestamp))", "_1 - Number(timestamp)"),
    because: "a wake that was recorded is valid for as long as its signer chose",
  },
  "an encrypted payload is compared": {
    breaks: "law 5",
    src: change("payload.startsWith(_) ? _ : payload", "payload"),
    because: "a producer that encrypts is refused when it repeats its call",
  },
  "the short form of an error is not encrypted": {
    breaks: "access",
    src: change("encryptSettlementValue(_, _, short, _)", "short"),
    because: "Redis sees what only holders of the key may see",
  },
  "a caller may enqueue a reference": {
    breaks: "access",
    in: "encodePayload",
    src: never("isReference(payload)"),
    because: "a task becomes undeliverable by what its producer sent",
  },
  "a reference is delivered as a payload": {
    breaks: "law 9",
    src: drop("if (isReference(value)) throw asUnreadable(_);"),
    because: "a consumer without the option completes the task without having seen its payload",
  },
  "a dead letter loses its object": {
    breaks: "law 9",
    in: "keepsNoPayload",
    src: change('if (result.state !== "rejected") return false;', "return true;"),
    because: "the dead letter cannot be redriven",
  },
  "a lost lease removes the object": {
    breaks: "law 9",
    in: "keepsNoPayload",
    src: change("if (!result.ok) return false;", "if (!result.ok) return true;"),
    because: "the holder that comes too late takes the payload from the one that works on the task",
  },
  "an orphan is removed at any age": {
    breaks: "law 9",
    src: change("page.objects.filter(_)", "page.objects"),
    because: "a task that is enqueued while the sweep runs has no payload",
  },
  "the orphan pass skips partitions": {
    breaks: "law 9",
    src: change("[0, ...noted, ...partitionsOf(map)]", "[0]"),
    because: "the payloads of tasks in other partitions are removed",
  },
  "a damaged object is delivered": {
    breaks: "law 9",
    src: change("!found || found.some(_)", "!found"),
    because: "a handler works with a payload that no producer sent",
  },
  "a dequeue returns tasks that were leased to another consumer meanwhile": {
    breaks: "I2",
    src: change("held.filter(isLeased)", "held"),
    because: "two handlers work on one task, and the work of one is lost",
  },
  "work whose context manager failed runs twice": {
    breaks: "law 5",
    src: change("ended ?? run()", "run()"),
    because: "each enqueue is sent twice",
  },
};
