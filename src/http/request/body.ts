import { type BodyBounds, readBounded } from "../../bounded-body.ts";
import { Problem } from "../problems/problem.ts";

/** Levels of arrays and objects. JSON.stringify recurses, and gives up at about 4,000. */
export const maxDepth = 1_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a JSON body within the bounds.
 * @returns undefined where there is no body
 * @throws {Problem} invalid_json, body_too_slow, payload_too_large, unsupported_media_type
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
  // A shorter text has no room for so many levels.
  if (text.length > maxDepth && deeperThan(maxDepth, text)) {
    throw new Problem("invalid_json", {
      detail: `The body is nested more than ${maxDepth} levels deep.`,
    });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem("invalid_json", { detail: whereBroken(error) });
  }
}

/** What the engine says of the place. Not its words as they are: they may quote a payload. */
function whereBroken(error: unknown): string {
  const told = error instanceof Error ? error.message : "";
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(told) ?? [];
  if (line !== undefined) return `The body stops being JSON at line ${line}, column ${column}.`;
  if (/^Unexpected end of JSON input$/.test(told)) return "The body ends before its JSON does.";
  return "The body has a character where JSON allows none, such as a comma after the last item, or a text or name without double quotes.";
}

async function readBytes(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  const read = await readBounded(request, bounds);
  switch (read) {
    case "too_large":
      throw new Problem("payload_too_large", { detail: `The body may have at most ${bounds.limit} bytes.` });
    case "too_slow":
      throw new Problem("body_too_slow", {
        detail: `The body has to come within ${bounds.within / 1_000} seconds.`,
      });
    case "broken":
      throw new Problem("invalid_json", { detail: "The body could not be read to its end." });
    default:
      return read;
  }
}

function requireJsonType(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", {
      detail: "The body has to be sent without a Content-Encoding.",
      headers: { "accept-encoding": "identity" },
    });
  }
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type.trim())) {
    throw new Problem("unsupported_media_type");
  }
}

/** Whether the JSON text nests deeper than that, told without recursion and before it is parsed. */
function deeperThan(limit: number, text: string): boolean {
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

/** The index of the quote that closes the string which opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
