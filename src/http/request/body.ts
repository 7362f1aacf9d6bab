import { type BodyBounds, readBounded } from "../../bounded-body.ts";
import { Problem } from "../problems/problem.ts";

/** The most levels of arrays and objects in a body. `JSON.stringify` recurses and fails at about 4,000. */
export const maxDepth = 1_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a JSON body within the bounds.
 * @returns `undefined` if there is no body
 * @throws {Problem} `invalid_json`, `body_too_slow`, `payload_too_large`, `unsupported_media_type`
 */
export async function readJson(request: Request, bounds: BodyBounds): Promise<unknown> {
  const bytes = await readBytes(request, bounds);
  if (bytes.length === 0) return undefined;
  requireJsonType(request.headers);
  let text;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new Problem("invalid_json", { detail: "The body is not UTF-8." });
  }
  // A shorter text cannot have that many levels.
  if (text.length > maxDepth && isDeeperThan(maxDepth, text)) {
    throw new Problem("invalid_json", {
      detail: `The body is nested more than ${maxDepth} levels deep.`,
    });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem("invalid_json", { detail: syntaxError(error) });
  }
}

/** The position from the engine's message. The message itself may quote a payload. */
function syntaxError(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (line !== undefined) return `The body is not valid JSON at line ${line}, column ${column}.`;
  if (/^Unexpected end of JSON input$/.test(message)) return "The body ends before the JSON is complete.";
  return "The body is not valid JSON. Common causes are a comma after the last item, and a string or name without double quotes.";
}

async function readBytes(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  const read = await readBounded(request, bounds);
  switch (read) {
    case "too_large":
      throw new Problem("payload_too_large", {
        detail: `The body must have at most ${bounds.limit} bytes.`,
      });
    case "too_slow":
      throw new Problem("body_too_slow", {
        detail: `The body must arrive within ${bounds.within / 1_000} seconds.`,
      });
    case "broken":
      throw new Problem("invalid_json", {
        detail: "The body ended before its declared length, or the connection broke.",
      });
    default:
      return read;
  }
}

function requireJsonType(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", {
      detail: "The body has a Content-Encoding. Send it without one.",
      headers: { "accept-encoding": "identity" },
    });
  }
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type.trim())) {
    throw new Problem("unsupported_media_type");
  }
}

/** Whether the JSON text has more than `limit` levels. Runs before parsing, and does not recurse. */
function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > limit) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}

/** The index of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
