import { vi } from "vitest";

/** Where handlers send their mails. */
const MAIL = "https://mail.test/";

/**
 * Replaces `fetch` by one that counts the requests of an invocation, and refuses those over its limit in the words of
 * Cloudflare. Restored by `vi.restoreAllMocks()`.
 * @param limit how many requests an invocation may send
 * @param drops of the requests to Redis, one of so many loses its reply. Default: none
 */
export function limitedInvocations(
  limit: number,
  { drops = Infinity }: { readonly drops?: number | undefined } = {},
) {
  const real = globalThis.fetch;
  /** The ids of the tasks for which a mail was sent, in that order. */
  const mails: string[] = [];
  /** How many requests each invocation has sent, those that were refused included. */
  const sent: number[] = [];
  let toRedis = 0;
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (to, init) => {
    const count = (sent[sent.length - 1] ?? 0) + 1;
    sent[sent.length - 1] = count;
    if (count > limit) throw new Error("Too many subrequests.");
    if (to === MAIL) {
      mails.push(init?.body as string);
      return new Response();
    }
    const response = await real(to, init);
    if (++toRedis % drops !== 0) return response;
    await response.body?.cancel();
    throw new TypeError("fetch failed");
  });
  return {
    mails,
    sent,
    /** Restores `fetch`. */
    end: () => spy.mockRestore(),
    /** Begins another invocation. */
    begin: () => void sent.push(0),
    /** Sends the mail of a task. */
    mail: async (id: string, signal?: AbortSignal) => {
      await fetch(MAIL, { method: "POST", body: id, ...(signal && { signal }) });
    },
  };
}
