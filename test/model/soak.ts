// npm run test:soak -- [--minutes N] [--seed N --kind N [--path P]]: the model beside the real queue, for as long as told.

import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { Real } from "./real.ts";
import { KINDS, runModel, type Kind } from "./run.ts";

/** Calls from one line of the report to the next. */
const CALLS = 5_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    kind: { type: "string" },
    path: { type: "string" },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not ${values.minutes}`);
const given = values.seed === undefined ? undefined : Number(values.seed);
const kinds = values.kind === undefined ? KINDS : [KINDS[Number(values.kind)] as Kind];

const real = await Real.start();
const began = performance.now();
const end = began + minutes * 60_000;
let total = 0;
try {
  const rounds = given === undefined ? Number.POSITIVE_INFINITY : kinds.length;
  for (let round = 0; performance.now() < end && round < rounds; round++) {
    const kind = kinds[round % kinds.length] as Kind;
    const seed = given ?? Math.floor(Math.random() * 2 ** 31);
    const calls = await runModel(real, kind, { calls: CALLS, until: end, seed, path: values.path }).catch(
      (error: unknown) => {
        const again = `npm run test:soak -- --kind ${KINDS.indexOf(kind)} --seed ${seed}`;
        throw new Error(`${kind.name}; to see it again: ${again}\n${messageOf(error)}`, { cause: error });
      },
    );
    total += calls;
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(`${seconds} s: ${total} calls as in the model; ${kind.name}, seed ${seed}`);
  }
  console.log(`${total} calls, ${real.mishaps} with a mishap on their way, each as in the model`);
} finally {
  await real.stop();
}
