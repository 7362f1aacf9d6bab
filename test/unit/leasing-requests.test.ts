import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SendOptions, Transport } from "../../src/index.ts";
import { LeasingRequests } from "../../src/kernel/lease/leasing-requests.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A transport whose requests are answered by the test. */
function slowTransport() {
  const sent: { readonly signal: AbortSignal | undefined; readonly reply: () => void }[] = [];
  const send = (_: unknown, { signal }: SendOptions = {}) =>
    new Promise<never[]>((resolve) => sent.push({ signal, reply: () => resolve([]) }));
  return { sent, transport: { send } satisfies Transport };
}

const neverSettles = async () => expect.unreachable();

test("a request goes on for five seconds after an abort, and keeps no timer after its reply", async () => {
  const { sent, transport } = slowTransport();
  const controller = new AbortController();
  const requests = new LeasingRequests({ signal: controller.signal }, neverSettles);
  const sending = requests.over(transport).send([]);
  controller.abort();
  vi.advanceTimersByTime(4_999);
  expect(sent[0]?.signal?.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(sent[0]?.signal?.aborted).toBe(true);
  sent[0]?.reply();
  await sending;
  expect(vi.getTimerCount()).toBe(0);
  await expect(requests.over(transport).send([])).rejects.toMatchObject({ code: "aborted" });
  expect(sent).toHaveLength(1);
});

test("a request that is answered before an abort leaves neither a timer nor a listener", async () => {
  const { sent, transport } = slowTransport();
  const { signal } = new AbortController();
  const [added, removed] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
  const requests = new LeasingRequests({ signal }, neverSettles);
  const run = requests.run(
    () => requests.over(transport).send([]),
    () => [],
  );
  sent[0]?.reply();
  await run;
  await vi.waitFor(() => expect(removed).toHaveBeenCalledTimes(added.mock.calls.length));
  expect(vi.getTimerCount()).toBe(0);
});

test.each([{ token: "token-0123" }, { idempotencyKey: "key" }])(
  "with %j the signal ends the request itself, because the dequeue can be sent again",
  async (given) => {
    const { sent, transport } = slowTransport();
    const { signal } = new AbortController();
    void new LeasingRequests({ signal, ...given }, neverSettles).over(transport).send([]);
    expect(sent[0]?.signal).toBe(signal);
  },
);
