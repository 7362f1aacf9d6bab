import type { GenericSchema } from "valibot";
import type { Scope } from "../../src/http/auth/tokens.ts";
import type { ProblemCode } from "../../src/http/problems/codes.ts";

/** The documentation of a route, beside its schemas. */
export interface OperationText {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly operationId: string;
  readonly tag:
    | "tasks"
    | "flows"
    | "topics"
    | "endpoints"
    | "queues"
    | "workers"
    | "schedules"
    | "operation"
    | "about";
  readonly summary: string;
  readonly description: string;
  /** The scopes of a token that open the route; `cron` is the cron secret. Empty: the route is public. */
  readonly scopes: readonly (Scope | "cron")[];
  /** A header that only this route reads. */
  readonly header?: "Last-Event-ID" | "traceparent";
  /** The schema of the query. */
  readonly query?: GenericSchema;
  /** An example of the query. */
  readonly queryExample?: Readonly<Record<string, string>>;
  /** The names of the body's schemas; the body must match one of them. */
  readonly body?: {
    readonly schemas: readonly string[];
    readonly required: boolean;
    readonly examples: Readonly<Record<string, unknown>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly schemas: readonly string[];
        readonly examples: Readonly<Record<string, unknown>>;
        /** An example of the server-sent events, if the route can stream. */
        readonly stream?: string;
        readonly location?: true;
      }
    >
  >;
  /** Problems of this route, beside those that all routes of its kind have. */
  readonly problems?: readonly ProblemCode[];
}

/** The time in the examples, epoch ms. */
export const exampleTime = 1_792_800_000_000;
