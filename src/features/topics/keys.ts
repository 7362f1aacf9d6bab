import { DEFAULT_PREFIX } from "../../kernel/names/keys.ts";
import { keyPrefix } from "../../kernel/options/validation.ts";

/**
 * The key of the subscriptions to all topics.
 * @throws {SluiceError} `invalid_argument`
 */
export function topicsKey(prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:topics`;
}

/**
 * The key of what a topic has retained.
 * @throws {SluiceError} `invalid_argument`
 */
export function messagesKey(topic: string, prefix: string = DEFAULT_PREFIX): string {
  return `${keyPrefix(prefix)}:topic:{${topic}}`;
}
