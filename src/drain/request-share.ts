import { invalidArgument } from "../errors.ts";
import { RequestBudget, RequestRefused } from "./request-budget.ts";

/** Requests that one call may need: for each database the first copy and the script's body, and a resend. */
const requestsOfCall = (databases: number) => 2 * databases + 1;

/**
 * The budget of a drain.
 * @param requests a number, or the budget of an invocation
 * @throws {SluiceError} `invalid_argument` if the number is too small for a single task
 */
export function checkedBudget(requests: number | RequestBudget, perTask: number): RequestBudget {
  // A bundle may contain a second copy of the class.
  if (typeof Object(requests).reserve === "function") return requests as RequestBudget;
  const budget = new RequestBudget(requests as number);
  const fewest = 2 * requestsOfCall(1) + perTask;
  if (budget.most >= fewest) return budget;
  throw invalidArgument(
    "requests",
    `must be at least ${fewest}: 3 for a dequeue, ${perTask} for a task, and 3 for the last settle`,
  );
}

/**
 * What one drain uses of a budget of requests. The drain keeps some requests for its last settle until it ends.
 * A handler's own requests count when it begins. All others count when they are sent, and are refused if only
 * those kept are left.
 */
export class RequestShare {
  /** True from when nothing but the last settle is left to send: it may use what was kept, and its first copy is never refused. */
  isLast = false;
  /** Whether a request was refused. */
  wasRefused = false;
  readonly #budget: RequestBudget;
  readonly #perTask: number;
  readonly #ofCall: number;
  /** Gives back what was kept. */
  readonly end: () => void;

  constructor(budget: RequestBudget, perTask: number, databases: number) {
    this.#budget = budget;
    this.#perTask = perTask;
    this.#ofCall = requestsOfCall(databases);
    this.end = budget.reserve(this.#ofCall);
  }

  /** Whether an error says that a request was refused. If it was the last settle, that is a failure. */
  isRefusal(error: unknown): boolean {
    return error instanceof RequestRefused && !this.isLast;
  }

  /** Whether a request may be sent now. */
  get maySend(): boolean {
    return this.isLast || this.#budget.free > 0;
  }

  /**
   * How many tasks a dequeue may return so that all of them can begin.
   * @param waiting how many other tasks are about to begin
   */
  tasksThatFit(waiting: number): number {
    const left = this.#budget.free - this.#ofCall - waiting * this.#perTask;
    if (left < this.#perTask) return 0;
    return this.#perTask === 0 ? Infinity : Math.floor(left / this.#perTask);
  }

  /** How long a dequeue may wait for tasks, ms: it sends about two requests a second. */
  get longestWait(): number {
    return Math.max(0, this.#budget.free - 2 * this.#ofCall - this.#perTask) * 500;
  }

  /** Counts the requests of tasks that begin. Returns false if there are too few for them. */
  readonly begin = (tasks: number): boolean => {
    const needed = tasks * this.#perTask;
    if (needed > this.#budget.free) return false;
    this.#budget.use(needed);
    return true;
  };

  /**
   * Counts a request that is about to be sent.
   * @param isMore whether it is another copy of a request, or follows from it. Such a one of the last settle may use what
   *   this drain has kept, and what is free. @default false
   */
  readonly onSend = (isMore = false): void => {
    if (this.isLast ? isMore && this.#budget.leftTo(this.#ofCall) === 0 : !this.maySend) {
      this.wasRefused = true;
      throw new RequestRefused(this.#budget.most);
    }
    this.#budget.use();
  };
}
