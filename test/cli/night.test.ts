import { describe, expect, test } from "vitest";
import { drain, type Handler, NonRetryableError } from "../../src/index.ts";
import { type Target, targets, useCli } from "./rig.ts";

const rig = useCli();

/** Works the queue off, with all attempts of each task. */
const work = (handler: Handler) => drain(rig.queue(), handler, { backoff: [0] });

describe.each(targets)("the receiver broke at night; with %s", (target: Target) => {
  const onTerminal = async (...args: string[]) => {
    const { code, text, err } = await rig.sluice(target, args, { terminal: true });
    expect([args, code]).toEqual([args, 0]);
    return { text, err };
  };

  test("the operator finds out why, repairs the receiver, and redrives", async () => {
    await rig.operator().configure({ statistics: true });
    const orders = Array.from({ length: 30 }, (_, i) => ({
      id: `order-${i}`,
      payload: { to: `customer-${i}@example.com` },
      maxAttempts: 3,
    }));
    await rig.queue().enqueueMany(orders);
    await rig.queue().enqueue({ to: "nowhere" }, { id: "order-wrong", maxAttempts: 3 });
    const sent = new Set<string>();
    let isBroken = true;
    const receiver: Handler = ({ id, payload }) => {
      if ((payload as { to: string }).to === "nowhere") throw new NonRetryableError("no such address");
      if (isBroken) throw new Error(`HTTP 503 from mail.example.com, request ${100_000 + sent.size}`);
      sent.add(id);
    };
    await work(receiver);

    // Which queue is it?
    const queues = await onTerminal("queues");
    expect(queues.text).toMatch(/^QUEUE +PENDING +DELAYED +WORKING +DEAD +OLDEST\nemails +0 +0 +0 +31\n$/);

    // Why?
    const dead = await onTerminal("dead", "emails");
    expect(dead.text).toMatch(/^31 dead letters of emails\n/);
    expect(dead.text).toMatch(
      /\n +30 {2}attempts_exhausted .* Error: HTTP 503 from mail\.example\.com, request …\n +1 {2}rejected .* NonRetryableError: no such address\n/,
    );
    expect(dead.err).toContain("sluice redrive emails --dry-run");
    const [, example = ""] = /sluice show emails (\S+)/.exec(dead.err) ?? [];

    // What happened to one of them?
    const shown = await onTerminal("show", "emails", example);
    expect(shown.text).toContain(`${example} of emails: rejected: its attempts are used up\n`);
    expect(shown.text.match(/attempt \d: Error: HTTP 503 from mail\.example\.com/g)).toHaveLength(3);
    expect(shown.text).toContain('"to": "customer-');

    // The receiver is repaired. What would a redrive take?
    isBroken = false;
    const dry = await onTerminal("redrive", "emails", "--dry-run");
    expect(dry.text.match(/^order-\d+ /gm)).toHaveLength(30);
    expect(dry.err).toBe(
      "30 dead letters would be redriven. Nothing was changed.\n" +
        "1 dead letter that a consumer rejected for good stays; --rejected takes it too.\n",
    );
    expect(await rig.queue().counts()).toMatchObject({ pending: 0, rejected: 31 });

    // Slowly, so that the receiver does not break again.
    const redrive = await onTerminal("redrive", "emails", "--rate", "20");
    expect(redrive.text).toBe("Redrove 30 dead letters of emails. They become pending within 1s.\n");
    const stats = await onTerminal("stats", "emails");
    expect(stats.text).toMatch(/^emails .*\n\d+ pending {2}\d+ delayed {2}0 working {2}1 dead /);

    await expect
      .poll(
        async () => {
          await work(receiver);
          return sent.size;
        },
        { timeout: 10_000 },
      )
      .toBe(30);
    const after = await onTerminal("stats", "emails");
    expect(after.text).toMatch(/^emails .*\n0 pending {2}0 delayed {2}0 working {2}1 dead /);
    expect(after.text).toMatch(/MINUTE .*COMPLETED.*REDRIVEN/);
    expect((await onTerminal("queues")).text).toMatch(/\nemails +0 +0 +0 +1\n$/);
    expect((await onTerminal("dead")).text).toMatch(/^QUEUE +DEAD\nemails +1\n$/);
    expect((await onTerminal("show", "emails", example)).text).toMatch(/^order-\d+ of emails: completed\n/);
  });
});
