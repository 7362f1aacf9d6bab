/** How much a line matters, from the least. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Where log lines go: an object with a method for each level, such as a logger of pino, winston or bunyan, or
 * `console`. Each method is called with one new object: the fields of the line, and `message`, which says the same in
 * a sentence, as far as it is short.
 */
export interface Logger extends Readonly<Record<LogLevel, (line: Record<string, unknown>) => unknown>> {}

/**
 * The option `logger`. A level in place of a {@link Logger} means lines of JSON on the console, from that level on;
 * `"silent"` means none.
 */
export type LoggerOption = Logger | LogLevel | "silent";

/**
 * A line before it is written: its level and its fields. These are what JSON can represent, and never a payload, a
 * token or a secret. The functions in `lines.ts` make all lines.
 */
export type LogLine = readonly [level: LogLevel, fields: object];

/** Writes a line. Never throws. */
export type Log = (line: LogLine) => void;

/** Writes a line to the console, as JSON. */
export const toConsole: Log = ([level, fields]) => console[level](JSON.stringify(fields));
