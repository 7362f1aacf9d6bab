import type { LeasedTask, OnSettle } from "./lease/leased-task.ts";
import type { Enqueued, EnqueueOptions } from "./options/types.ts";

type Headers = Readonly<Record<string, string>>;

/** Adds headers to those of a task, or of a request to a server, or returns them unchanged. */
export type AddHeaders = <H extends Headers | undefined>(headers: H) => H | Headers;

/**
 * Checks the options of a new task beside what every queue refuses.
 * @param path of the task in errors, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`
 */
export type CheckTask = (task: EnqueueOptions, path: string) => void;

/** What a layer does around calls that add the tasks of flows. */
export interface AddHooks {
  /**
   * @param call its tasks, the queue of the first of them, and whether it is a request to a server
   * @param add adds them, and the headers to each task, or over HTTP to the request
   */
  adding<R extends readonly Enqueued[]>(
    call: { readonly queue: string; readonly tasks: readonly EnqueueOptions[]; readonly overHttp: boolean },
    add: (addHeaders: AddHeaders) => Promise<R>,
  ): Promise<R>;
}

/** What a layer around a queue's calls does beside them. Its methods never throw, except what `run` throws. */
export interface QueueHooks {
  /** For each settlement that a task or a drain makes. */
  readonly onSettle: OnSettle;
  /**
   * Begins a drain.
   * @param wholeBatches whether its handler takes all tasks of a dequeue
   */
  drain(wholeBatches: boolean): DrainHooks;
}

/** What is called around the work of one drain. */
export interface DrainHooks extends Pick<QueueHooks, "onSettle"> {
  /** Makes a request. */
  request<R>(run: () => R): R;
  /** Begins one call of the handler, for these tasks, as the handler gets them. */
  handlerCall(tasks: readonly HandledTask[]): HandlerCallHooks;
}

/** A task as its handler gets it. */
export type HandledTask = Pick<LeasedTask, "id" | "receipt" | "attempt" | "headers">;

/** The outcome of a task's handler. `lost`: it was dropped, because the task's lease was lost. */
export interface HandlerOutcome {
  readonly outcome: "complete" | "reject" | "requeue" | "lost";
  readonly error?: unknown;
}

/** What is called around one call of a handler. */
export interface HandlerCallHooks {
  /** Calls the handler. */
  run<R>(handler: () => R): R;
  /** Called once, when the call has ended or was given up. */
  end(outcomes: readonly HandlerOutcome[]): void;
}
