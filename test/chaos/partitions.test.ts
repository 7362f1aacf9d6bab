import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { written } from "./figures.ts";
import { chaos } from "./run.ts";

test("through deployments, whose queues get more and fewer partitions, every task ends once, and under its last lease, whatever is killed or paused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { figures, violations } = await chaos({ seconds: 10, seed, folder, partitions: true });
  console.log(`seed ${seed}\n${written(figures)}`);
  expect(violations, `seed ${seed}; what each process wrote down is in ${folder}`).toEqual([]);
  expect(figures).toMatchObject({
    lost: 0,
    kills: { redis: expect.any(Number), gateway: expect.any(Number) },
    faults: { deployed: expect.any(Number), resized: expect.any(Number) },
  });
  expect(figures.completed + figures.deadLetters + figures.cancelled).toBe(figures.tasks);
  rmSync(folder, { recursive: true });
}, 360_000);
