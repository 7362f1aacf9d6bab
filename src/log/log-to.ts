import { invalidArgument } from "../errors.ts";
import {
  type Log,
  type Logger,
  type LoggerOption,
  type LogLevel,
  type LogLine,
  toConsole,
} from "./logger.ts";

const METHODS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const LEVELS: readonly unknown[] = [...METHODS, "silent"];

/**
 * Returns what writes lines as the option `logger` says.
 * @param logger undefined: the console, from `least` on
 * @throws {SluiceError} `invalid_argument`
 */
export function logTo(logger: LoggerOption | undefined, least: LoggerOption = "info"): Log {
  const given = logger === undefined ? least : logger;
  const first = LEVELS.indexOf(given);
  if (first >= 0) return (line) => void (LEVELS.indexOf(line[0]) >= first && toConsole(line));
  const methods = given as Logger;
  if (METHODS.some((level) => typeof methods?.[level] !== "function")) {
    throw invalidArgument(
      "logger",
      "must be debug, info, warn, error or silent; or have the first four as methods, as console",
    );
  }
  return (line) => {
    try {
      const written = methods[line[0]](withMessage(line));
      if (written instanceof Promise) written.catch(() => toConsole(line));
    } catch {
      toConsole(line);
    }
  };
}

/**
 * The fields of a line, and as `message` the first of them and what failed, such as `drain emails` or
 * `queue emails: Error: HTTP 503`.
 */
function withMessage([, fields]: LogLine): Record<string, unknown> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const { failed, error = failed, text = error, note = text } = fields as Record<string, unknown>;
  const words = [...(given[0] ?? []), note].filter((word) => typeof word === "string");
  return { message: words.join(" "), ...Object.fromEntries(given) };
}
