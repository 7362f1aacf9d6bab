import { DeliveryError } from "../failure.ts";
import { type Hop, type Sender, startOf, textOf } from "./sender.ts";

/**
 * Sends by `fetch`, in runtimes that do not show to which address a name leads. The hosts that the policy allows are
 * all that protects there.
 */
export const fetchSender: Sender = async (hop: Hop) => {
  const { url, method, headers, body, signal } = hop;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const init = {
      method,
      headers,
      body: body ?? null,
      redirect: "manual",
      signal: controller.signal,
    } as const;
    const response = await fetch(url, init).catch((error: unknown) => {
      signal.throwIfAborted();
      const { code } = Object(Object(error).cause) as { code?: unknown };
      throw new DeliveryError(
        "unreachable",
        `there was no response: ${typeof code === "string" ? code : "unknown"}`,
      );
    });
    const { bytes, truncated } = await readStart(response, hop);
    const { status, headers: received } = response;
    return { status, headers: received, body: textOf(bytes, truncated), bytes, truncated };
  } finally {
    signal.removeEventListener("abort", abort);
    controller.abort();
  }
};

/** Reads the start of a body. It never fails: the status counts. */
async function readStart(
  { body }: Response,
  { signal, maxBody, bodyTime }: Hop,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; truncated: boolean }> {
  if (!body) return { bytes: new Uint8Array(), truncated: false };
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let cut = () => {};
  const over = new Promise<undefined>((resolve) => {
    cut = () => resolve(undefined);
  });
  const timer = setTimeout(cut, bodyTime);
  signal.addEventListener("abort", cut, { once: true });
  let truncated = true;
  try {
    for (let size = 0; size <= maxBody;) {
      const read = await Promise.race([reader.read(), over]);
      truncated = !read?.done;
      if (!read || read.done) break;
      chunks.push(read.value);
      size += read.value.length;
    }
  } catch {
    truncated = true;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
    // Not awaited: a stalled source may never finish it.
    void reader.cancel().catch(() => {});
  }
  return { bytes: startOf(chunks, maxBody), truncated };
}
