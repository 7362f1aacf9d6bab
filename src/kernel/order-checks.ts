/** A queue that may be declared. */
export interface MaybeDeclared {
  readonly name: string;
  readonly settings?: { readonly order?: unknown } | undefined;
  /** Why a task must be in the slot of its group, as errors say it; undefined if it need not. */
  readonly slotReason?: (() => string | undefined) | undefined;
}

/** A queue with any types. */
export interface Adding {
  enqueue(payload: never, options?: never): Promise<unknown>;
  enqueueMany(tasks: never, options?: never): Promise<unknown>;
}

/** Schedules with any type. */
export interface Putting {
  put(name: string, schedule: never, options?: never): Promise<unknown>;
}

/** Checks what is added to queues that are declared with a strict order. */
export interface OrderChecks {
  /**
   * The same queue. In whatever way tasks are added to it, the order that is declared is checked: features that do not
   * call its `enqueue` take its `checkTask`.
   */
  readonly queue: <Q extends Adding>(declared: MaybeDeclared, queue: Q) => Q;
  /** The same schedules. Those that are put are checked as tasks are. */
  readonly schedules: <S extends Putting>(declared: MaybeDeclared, schedules: S) => S;
}
