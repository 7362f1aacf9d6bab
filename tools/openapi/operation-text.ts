import type { GenericSchema } from "valibot";
import type { ProblemCode } from "../../src/http/problems/codes.ts";

/** What a route's document says beyond its schemas. */
export interface OperationText {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly operationId: string;
  readonly tag: "tasks" | "queues" | "workers" | "schedules" | "operation" | "about";
  readonly summary: string;
  readonly description: string;
  /** `cron`: the platform's cron secret; none: open to everybody. */
  readonly scopes: readonly ("enqueue" | "consume" | "admin" | "cron")[];
  /** A header of its own. */
  readonly header?: "Last-Event-ID";
  /** What the query may have. */
  readonly query?: GenericSchema;
  /** What to try in it. */
  readonly queryExample?: Readonly<Record<string, string>>;
  /** One schema of the components, or several of which one has to fit. */
  readonly body?: {
    readonly schemas: readonly string[];
    readonly required: boolean;
    readonly examples: Readonly<Record<string, unknown>>;
  };
  readonly answers: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly schemas: readonly string[];
        readonly examples: Readonly<Record<string, unknown>>;
        /** What server-sent events look like, where it can answer with them. */
        readonly stream?: string;
        readonly location?: true;
      }
    >
  >;
  /** Problems beside those that every route of its kind can answer with. */
  readonly problems?: readonly ProblemCode[];
}

/** The instant that the examples begin at. */
export const exampleTime = 1_792_800_000_000;
