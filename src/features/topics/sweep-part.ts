import { SluiceError } from "../../errors.ts";
import { run, scriptCall } from "../../kernel/call.ts";
import { testNowOf } from "../../kernel/queue-ref.ts";
import { plainValues } from "../../kernel/values/values.ts";
import type { CurrentSweep, SweepPart } from "../../sweep/part.ts";
import { messagesKey } from "./keys.ts";
import { continueReplay, isAbandoned, type ReplayMeans } from "./replay.ts";
import { fetchTopics, forgetTopics, NOTE, noteTopics, type TopicsRef } from "./stored.ts";
import { readPair, type Retention } from "./subscription.ts";
import { trimTopicScript } from "./topic-scripts.ts";

/** About how many bytes of messages one call reads. */
const TRIM_BYTES = 2_000_000;

/** Adds the messages of replays to their queues. */
export type AddReplayed = (sweep: CurrentSweep) => ReplayMeans["add"];

/**
 * The part of topics in a sweep: removes what topics have retained for long enough, and continues replays whose callers
 * have not ended them. It costs no request unless topics retain messages or are replayed.
 */
export const topicsPart =
  (addIn: AddReplayed): SweepPart =>
  (sweep) => ({
    async after({ reminders }) {
      const note = reminders.find(({ queue }) => `~${queue}` === NOTE);
      if (!note || sweep.only !== undefined) return;
      await unlessFailed(sweep, "~topics", () => upkeep(sweep, addIn(sweep), note.at));
    },
  });

/** A fault of topics must not end the sweep: it is in the report, as that of a queue with this name. */
async function unlessFailed(sweep: CurrentSweep, name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof SluiceError) || sweep.options.signal?.aborted) throw error;
    sweep.failedParts.set(name, error.code);
  }
}

async function upkeep(sweep: CurrentSweep, add: ReplayMeans["add"], notedAt: number): Promise<void> {
  const { options, transport } = sweep;
  const { prefix, signal, now } = options;
  const ref: TopicsRef = { transport, prefix, now };
  const { topics } = await fetchTopics(ref, { signal });
  let isBusy = false;
  for (const [topic, retention] of topics.retained) {
    if ((await trim(sweep, ref, topic, retention)) > 0) isBusy = true;
  }
  const sealed = new Set(topics.subscriptions.flatMap(({ isSealed, queue }) => (isSealed ? [queue] : [])));
  for (const [pair, state] of topics.replays) {
    isBusy = true;
    const { queue } = readPair(pair);
    // The deployment that has the key continues those.
    if (sealed.has(queue) || !sweep.isWanted(queue) || !isAbandoned(ref, state)) continue;
    const until = (sweep.begunAt + sweep.deadline) / 2;
    await unlessFailed(sweep, queue, async () => {
      const means: ReplayMeans = { ...ref, signal, add, until, valuesOf: () => plainValues() };
      const { more } = await continueReplay(means, pair, state);
      if (more) sweep.more = true;
      sweep.toWake.add(queue);
    });
  }
  if (isBusy) return;
  await transport.send([forgetTopics(ref, notedAt)], { signal });
  // A publisher that has added a message meanwhile may write no note again for a minute.
  for (const [topic, retention] of topics.retained) {
    if ((await trim(sweep, ref, topic, retention)) === 0) continue;
    await transport.send([noteTopics(ref)], { signal });
    return;
  }
}

/** Removes the oldest messages of a topic, until they are within its bounds. @returns how many are left */
async function trim(
  sweep: CurrentSweep,
  ref: TopicsRef,
  topic: string,
  retention: Retention,
): Promise<number> {
  const { transport, prefix, now } = ref;
  const keys = { messages: messagesKey(topic, prefix) };
  const bounds = {
    keepFor: String(retention.for),
    most: String(retention.bytes),
    maxBytes: String(TRIM_BYTES),
  };
  const call = scriptCall(trimTopicScript, keys, { testNow: testNowOf({ now }), ...bounds });
  for (;;) {
    const { messages, more } = await run(transport, call, { signal: sweep.options.signal });
    if (!more) return messages;
    if (performance.now() >= sweep.deadline) {
      sweep.more = true;
      return messages;
    }
  }
}
