import type { Mutant } from "./mutant.ts";

/** Faults in traces. */
export const tracing: readonly Mutant[] = [
  {
    name: "a traceparent of the caller is overwritten",
    file: "src/tracing/trace-headers.ts",
    find: "if (own || names.length === 0) return headers;",
    replace: "if (names.length === 0) return headers;",
    breaks: "answers",
    because: "the trace that the caller chose breaks off at the enqueue",
  },
  {
    name: "trace headers are added beyond the size of headers",
    file: "src/tracing/trace-headers.ts",
    find: "asciiJson(all).length > MAX_HEADER_BYTES ? headers : all",
    replace: "all",
    breaks: "input",
    because: "a task is refused because it is traced",
  },
  {
    name: "of two traceparents of a request the farther one is continued",
    file: "src/tracing/trace-headers.ts",
    find: ".at(-1)",
    replace: ".at(0)",
    breaks: "answers",
    because: "the span of the request is missing from the trace",
  },
  {
    name: "a failure of OpenTelemetry fails the queue",
    file: "src/tracing/guard.ts",
    find: "      this.#report(error);\n      return undefined;",
    replace: "      this.#report(error);\n      throw error;",
    breaks: "answers",
    because: "a fault in the traces loses tasks",
  },
  {
    name: "work whose context manager failed runs twice",
    file: "src/tracing/guard.ts",
    find: "const result = ended ?? run();",
    replace: "const result = run();",
    breaks: "law 5",
    because: "each enqueue is sent twice",
  },
  {
    name: "an extend has the span of a settle",
    file: "src/tracing/open-telemetry.ts",
    find: 'settlements.filter((one) => one?.outcome !== "extend")',
    replace: "settlements",
    breaks: "answers",
    because: "a long task seems to have ended many times",
  },
  {
    name: "the span of a handler has no link to the other tasks of its batch",
    file: "src/tracing/open-telemetry.ts",
    find: "    const links = this.#linksTo(tasks);\n    const around",
    replace: "    const links = this.#linksTo(tasks.slice(0, 1));\n    const around",
    breaks: "answers",
    because: "their traces end at the enqueue",
  },
  {
    name: "error.type shows any text",
    file: "src/tracing/attributes.ts",
    find: '(one) => typeof one === "string" && NAME.test(one)',
    replace: '(one) => typeof one === "string"',
    breaks: "access",
    because: "a text that quotes the payload leaves the queue",
  },
];
