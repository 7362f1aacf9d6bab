import { invalidArgument, type SluiceError } from "../errors.ts";
import type { AppPart } from "../http/app-part.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Log } from "../log/logger.ts";
import type { Open } from "../open/opening.ts";
import type { QStashGiven } from "../qstash/options.ts";
import type { DeclaredQueue, QueueConsumer } from "./declared/define-queue.ts";

/** What a deployment declares, and how to apply it. */
export interface ToApply {
  /** All declared queues of the deployment. */
  readonly queues: readonly DeclaredQueue[];
  /** Opens its queues. */
  readonly open: Open;
  readonly transport: Transport;
  readonly prefix: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly log: Log;
}

/** A feature that a deployment has if it is given: its routes, its queues and their consumers, and what it adds to the tools. */
export interface DeploymentPart extends AppPart {
  /** Consumers that it adds to those of the deployment. @default none */
  readonly consumers?: readonly QueueConsumer<never>[] | undefined;
  /** Declared queues that it adds, without consumers. @default none */
  readonly queues?: readonly DeclaredQueue[] | undefined;
  /**
   * Applies what the declared queues say of it, and cleans up what it keeps beside tasks. It is called before sweeps of
   * all queues, at most every ten minutes. If it fails, one line is logged, and the next sweep calls it again.
   * @default there is nothing to apply
   */
  readonly apply?: ((declared: ToApply) => Promise<void>) | undefined;
  /**
   * Checks the topics that a declared queue subscribes to. The part that has it applies them.
   * @throws {SluiceError} `invalid_argument`
   */
  readonly checkSubscribes?: ((queue: DeclaredQueue) => void) | undefined;
  /**
   * Connects the own methods of what declared queues name of it, in a process. Returns functions that disconnect them.
   * @default nothing has such methods
   */
  readonly connect?: ((queues: readonly DeclaredQueue[], open: Open) => readonly (() => void)[]) | undefined;
  /**
   * What it adds to the tools that handlers and `fetch` get.
   * @param open opens queues as the tools do
   * @default nothing
   */
  readonly tools?: ((open: Open) => object) | undefined;
}

/** Options that turn on features. Each is a part of its own. */
export interface FeatureOptions {
  /**
   * Whether messages may be published to topics. `true` loads its code; or give it, from `sluice-queue/topics`.
   * @default true; in a Worker it must be given
   */
  readonly topics?: boolean | DeploymentPart | undefined;
  /**
   * Whether there are endpoints, to which events are delivered. `true` loads its code; or give it, from
   * `sluice-queue/endpoints`.
   * @default true; in a Worker it must be given
   */
  readonly endpoints?: boolean | DeploymentPart | undefined;
  /**
   * Answers requests as QStash does, below `/v2`: its options, or what `qstash()` of `sluice-queue/qstash` returned,
   * which a Worker needs.
   * @default off
   */
  readonly qstash?: QStashGiven<never> | DeploymentPart | undefined;
}

/** Those that are on if the platform loads code on demand. */
const BY_DEFAULT = ["topics", "endpoints"] as const;

const FEATURES = [...BY_DEFAULT, "qstash"] as const satisfies readonly (keyof FeatureOptions)[];

/** Makes the part of each feature: of `true`, or of its options. */
export type FeaturesOnDemand = {
  readonly [Name in keyof FeatureOptions]?: (given: never) => DeploymentPart;
};

/**
 * The features of a deployment.
 * @param onDemand loads them; undefined if the platform has all code in one file
 * @throws {SluiceError} `invalid_argument` for one that is not given as its code, if nothing loads it
 */
export function featureParts(
  options: FeatureOptions,
  onDemand: FeaturesOnDemand = {},
): readonly DeploymentPart[] {
  return FEATURES.flatMap((name) => {
    const load = onDemand[name] as ((given: unknown) => DeploymentPart) | undefined;
    const given = options[name] ?? (load && BY_DEFAULT.includes(name as never));
    if (!given) return [];
    if ((given as Partial<DeploymentPart>).routes) return given as DeploymentPart;
    if (load) return load(given);
    throw mustBeCode(name);
  });
}

/**
 * @param name of the part
 * @param entry that has it
 */
export const mustBeCode = (name: string, entry = name): SluiceError =>
  invalidArgument(name, `must be its code on this platform: import { ${name} } from "sluice-queue/${entry}"`);
