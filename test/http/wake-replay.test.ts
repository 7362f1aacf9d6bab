import { afterEach, expect, test, vi } from "vitest";
import { Service } from "../../src/deploy/service.ts";
import { signedHeaders, signingKey } from "../../src/signature.ts";
import { WakeVerifier } from "../../src/features/waking/wake-verifier.ts";
import { type DrainReport, wakeReceiver } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

// A wake that an attacker recorded and sends again.

const rig = useRig();
const numerically = (one: number, other: number) => one - other;
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
/** Stops the clock of the process, at so many seconds from now. */
const at = (seconds: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1_000 });
const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
const next = `whsec_${btoa("its successor of 24 bytes and more")}`;
const body = JSON.stringify({ type: "sluice.wake", data: { queue: "emails" } });

async function recorded(id = `wake_${crypto.randomUUID()}`, by = secret) {
  const headers = await signedHeaders(await signingKey(by), id, body);
  const request = (signature = headers["webhook-signature"]!) => {
    const sent = { ...headers, "webhook-signature": signature };
    return new Request("https://consumer.test/wake", { method: "POST", headers: sent, body });
  };
  return { signature: headers["webhook-signature"]!, request };
}

function receiver(outcome: () => Promise<DrainReport> = async () => ({ completed: 0 }) as DrainReport) {
  const drained: string[] = [];
  const drain = (queue: string) => (drained.push(queue), outcome());
  return { drained, receive: wakeReceiver({ secret: [secret, next], drain }) };
}

const statusesOf = (answers: readonly Response[]) =>
  answers.map(({ status }) => status).toSorted(numerically);

test("a wake is taken once by a receiver; a copy of it is 409 and drains nothing, however many come at once", async () => {
  const { drained, receive } = receiver();
  const { request } = await recorded();
  const answers = await Promise.all(Array.from({ length: 50 }, () => receive(request())));
  expect(statusesOf(answers)).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
  expect(drained).toEqual(["emails"]);
  const again = await receive(request());
  expect(await again.json()).toMatchObject({ status: 409, detail: "This wake was received before." });
  for (const { headers } of [again, answers[0]!])
    expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
      "no-store",
      "nosniff",
    ]);
});

test("a copy is recognised by its signed content, not by its spelling or by which of two signatures it keeps", async () => {
  const { drained, receive } = receiver();
  at(0);
  const { signature: first, request } = await recorded("wake_both");
  const { signature: second } = await recorded("wake_both", next);
  const statuses: number[] = [];
  for (const signature of [`${first} ${second}`, second, first, `v1,AAAA ${first}`, ` ${first}`])
    statuses.push((await receive(request(signature))).status);
  expect(statuses).toEqual([200, 409, 409, 409, 409]);
  expect(drained).toEqual(["emails"]);
});

test("a sender may try again under the same id at another time, as Standard Webhooks allows", async () => {
  const { drained, receive } = receiver(() => Promise.reject(new Error("no Redis")));
  const first = await recorded("msg_1");
  await expect(receive(first.request())).rejects.toThrow("no Redis");
  at(1);
  await expect(receive((await recorded("msg_1")).request())).rejects.toThrow("no Redis");
  expect(drained).toEqual(["emails", "emails"]);
});

test("a forged wake does not use up the id of a true one", async () => {
  const { drained, receive } = receiver();
  const { request } = await recorded();
  expect((await receive(request(`v1,${btoa("x".repeat(32))}`))).status).toBe(401);
  expect((await receive(request())).status).toBe(200);
  expect(drained).toEqual(["emails"]);
});

test("a limited number of wakes is remembered: the oldest is forgotten first", async () => {
  const verifier = new WakeVerifier(secret);
  const key = await signingKey(secret);
  const wake = async (id: string) => new Headers(await signedHeaders(key, id, body));
  const first = await wake("first");
  expect(await verifier.verify(first, body)).toBe("valid");
  for (let i = 1; i < 10_000; i++)
    if ((await verifier.verify(await wake(`wake_${i}`), body)) !== "valid")
      expect.fail(`wake_${i} was refused`);
  expect(await verifier.verify(first, body)).toBe("replayed");
  const last = await wake("one more");
  for (const answer of ["valid", "replayed"]) expect(await verifier.verify(last, body)).toBe(answer);
  expect(await verifier.verify(first, body)).toBe("valid");
});

test("a copy that reaches another instance of the deployment does the same as cron: no task is done twice", async () => {
  vi.spyOn(console, "info").mockImplementation(() => {});
  const done: number[] = [];
  const env = {
    UPSTASH_REDIS_REST_URL: "https://redis.test",
    UPSTASH_REDIS_REST_TOKEN: "unused",
    SLUICE_WAKE_SECRET: secret,
  };
  const instance = () =>
    new Service(
      env,
      { consumers: { emails: ({ payload }) => void done.push(Number(payload)) } },
      { transport: () => rig.transport, budget: "20s", afterResponse: "none" },
    );
  // Real time, as in a deployment.
  const queue = rig.queue({ now: undefined });
  await queue.enqueueMany(Array.from({ length: 30 }, (_, payload) => ({ payload })));
  const { request } = await recorded();
  const instances = [instance(), instance(), instance()];
  const answers = await Promise.all(instances.flatMap((one) => [one.fetch(request()), one.fetch(request())]));
  // Each instance took it once.
  expect(statusesOf(answers)).toEqual([200, 200, 200, 409, 409, 409]);
  expect(done.toSorted(numerically)).toEqual(Array.from({ length: 30 }, (_, at) => at));
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, delayed: 0, rejected: 0 });
});
