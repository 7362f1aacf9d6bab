import { HTTP, parsedUrl } from "../url.ts";
import { badRequest } from "./failure.ts";
import type { QStashOptions } from "./options.ts";

/**
 * Checks that messages may go to a URL.
 * @throws {Failure} 400
 */
export function checkTarget(url: string, _settings: QStashOptions): void {
  if (!parsedUrl(url, HTTP)) throw badRequest(`invalid destination url: ${url}`);
}
