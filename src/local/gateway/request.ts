import type { IncomingMessage } from "node:http";
import type { Argument } from "./redis-client.ts";
import type { Format } from "./reply.ts";
import type { Command } from "./run.ts";

/** A request of the REST protocol. */
export interface RestRequest {
  /** `stream`: stream what Redis sends after the one command. */
  readonly form: "single" | "pipeline" | "multi-exec" | "stream";
  readonly commands: readonly Command[];
  /** The format of the replies. A stream ignores it. */
  readonly format: Format;
}

/** An invalid request. The message is sent to the client. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Upstash's limit, in bytes. */
const maxRequestBytes = 10 * 1024 * 1024;

/**
 * Reads the body to its end, even if it is too large.
 * @throws {BadRequest} if the body is larger than Upstash allows
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxRequestBytes) chunks.push(chunk);
  }
  if (bytes <= maxRequestBytes) return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  throw new BadRequest(
    413,
    `ERR max request size exceeded. Limit: ${maxRequestBytes} bytes, Actual: ${bytes} bytes. ` +
      "See https://upstash.com/docs/redis/troubleshooting/max_request_size_exceeded for details",
  );
}

/** @throws {BadRequest} */
export function readRequest(
  method: string,
  url: URL,
  headers: IncomingMessage["headers"],
  body: Buffer,
): RestRequest {
  const format = readFormat(headers);
  const withBody = method === "POST" || method === "PUT";
  if (url.pathname === "/pipeline" || url.pathname === "/multi-exec") {
    const form = url.pathname === "/pipeline" ? "pipeline" : "multi-exec";
    if (!withBody) throw new BadRequest(405, `ERR /${form} must be a POST or PUT`);
    const list = parseJson(body);
    if (!Array.isArray(list) || list.length === 0) {
      throw new BadRequest(400, `ERR the body of /${form} must be a JSON array of at least one command`);
    }
    // As on Upstash, the response to a transaction is JSON even if the client asks for RESP2.
    const replyFormat = form === "multi-exec" && format === "resp2" ? "json" : format;
    return { form, commands: list.map(readCommand), format: replyFormat };
  }
  if (url.pathname === "/" && withBody) {
    return { form: "single", commands: [readCommand(parseJson(body))], format };
  }
  const none = Buffer.alloc(0);
  const [, stream] = /^\/(p?subscribe|monitor)(?:\/|$)/i.exec(url.pathname) ?? [];
  if (stream === undefined) {
    return { form: "single", commands: [readPath(url, withBody ? body : none)], format };
  }
  if (method !== "GET" && method !== "POST")
    throw new BadRequest(405, `ERR /${stream} must be a GET or POST`);
  if (!/(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(headers.accept ?? "")) {
    throw new BadRequest(400, `ERR /${stream} is a stream and needs the header Accept: text/event-stream`);
  }
  // Without the body: Upstash's own client sends an empty command in it.
  return { form: "stream", commands: [readPath(url, none)], format };
}

function readFormat(headers: IncomingMessage["headers"]): Format {
  const encoding = String(headers["upstash-encoding"] ?? "");
  const format = String(headers["upstash-response-format"] ?? "json");
  if (encoding !== "" && encoding !== "base64") {
    throw new BadRequest(400, `ERR Upstash-Encoding ${encoding} is not supported, only base64`);
  }
  if (format !== "json" && format !== "resp2") {
    throw new BadRequest(400, `ERR Upstash-Response-Format ${format} is not supported, only json and resp2`);
  }
  if (encoding === "") return format;
  if (format === "json") return "base64";
  throw new BadRequest(
    400,
    "ERR Upstash-Encoding base64 is not supported with Upstash-Response-Format resp2",
  );
}

/** The command in a path such as `/set/foo/bar?EX=100`: the words of the path, the body, then the query. */
function readPath(url: URL, body: Buffer): Command {
  const words: Argument[] = url.pathname.replace(/^\//, "").replace(/\/$/, "").split("/").map(decode);
  if (body.length > 0) words.push(body);
  for (const [name, value] of url.searchParams) {
    if (name === "_token") continue;
    words.push(name);
    if (value !== "") words.push(value);
  }
  if (words[0]?.length === 0) throw new BadRequest(400, "ERR empty command");
  return words as [Argument, ...Argument[]];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BadRequest(400, "ERR the path must be percent-encoded UTF-8");
  }
}

function readCommand(input: unknown): Command {
  if (!Array.isArray(input) || input.length === 0) {
    throw new BadRequest(400, "ERR a command must be a JSON array of its name and arguments");
  }
  const words = input.map((word: unknown) => {
    if (typeof word === "string") return word;
    if (typeof word === "number" || typeof word === "boolean") return String(word);
    if (word instanceof NumberText) return word.text;
    throw new BadRequest(400, "ERR the words of a command must be strings, numbers or booleans");
  });
  if (words[0] === "") throw new BadRequest(400, "ERR empty command");
  return words as [string, ...string[]];
}

/** A JSON number as it was written. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

function parseJson(body: Buffer): unknown {
  const text = body.toString();
  try {
    const value: unknown = JSON.parse(text);
    if (!hasRoundedNumber(value)) return value;
    // Slower, so only if a number would be rounded.
    const reviver: Reviver = (_, item, context) =>
      typeof item === "number" && context?.source !== undefined ? new NumberText(context.source) : item;
    return JSON.parse(text, reviver);
  } catch {
    throw new BadRequest(400, "ERR the request body must be JSON");
  }
}

const hasRoundedNumber = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasRoundedNumber)
    : typeof value === "number" && !Number.isSafeInteger(value);
