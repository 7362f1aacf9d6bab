/** The flow of a task, which is in its id; undefined if the task is of no flow. An id of a caller's may look the same. */
export const flowOfTask = (id: string): string | undefined =>
  /^(?:g\w{10})?\d+\{([^{}]+@[^{}@]+)\}$/.exec(id)?.[1];
