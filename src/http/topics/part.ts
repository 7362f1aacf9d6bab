import type { Log } from "../../log/logger.ts";
import type { Open } from "../../open/opening.ts";
import type { Subscriber } from "../../open/topics/apply.ts";
import type { TopicOrName } from "../../open/topics/definition.ts";
import type { Topic } from "../../open/topics/topic.ts";
import type { SweepPart } from "../../sweep/part.ts";
import type { AppPart } from "../app-part.ts";

/** The code of topics, to turn them on. */
export interface TopicsPart extends AppPart {
  readonly sweepPart: SweepPart;
  /** @throws {SluiceError} `invalid_argument` */
  readonly checkSubscribes: (queue: Subscriber) => void;
  /** Applies what declared queues subscribe to. */
  readonly apply: (declared: {
    readonly queues: readonly Subscriber[];
    readonly open: Open;
    readonly signal: AbortSignal | undefined;
    readonly log: Log;
  }) => Promise<void>;
  /** Connects the declared topics to which queues subscribe. */
  readonly connect: (queues: readonly Subscriber[], open: Open) => readonly (() => void)[];
  /** What handlers and `fetch` get. */
  readonly tools: (open: Open) => { readonly topic: <In = unknown>(topic: TopicOrName<In>) => Topic<In> };
}
