// npm run test:soak: the model beside the real queue, for the given time. `--help` lists the options.

import { messageOf } from "../../../src/errors.ts";
import { endWrong, minutes, optional, readOptions, seed } from "../../support/options.ts";
import { Real } from "./real.ts";
import { RealPartitions } from "./partitions/real.ts";
import { runPartitionsModel } from "./partitions/run.ts";
import { KINDS as WITHOUT_PARTITIONS, runModel } from "./run.ts";
import { machineNow, type Bounds } from "./sequences.ts";

/** Calls between two lines of the report. */
const CALLS = 5_000;

const KINDS = [
  ...WITHOUT_PARTITIONS,
  { name: "a queue with partitions", isPartitioned: true, isOrdered: false },
  { name: "a divided queue whose turns are passed", isPartitioned: true, isOrdered: true },
] as const;
type Kind = (typeof KINDS)[number];

const program = { script: "test:soak", does: "Runs the model beside the real queue, for the given time." };
const kindList = KINDS.map(({ name }, i) => `${i} (${name})`).join(", ");
const {
  minutes: givenMinutes,
  seed: given,
  kind: only,
  path,
} = readOptions(program, {
  minutes: minutes("how long (10)"),
  seed: seed(),
  kind: optional("KIND", `only one kind of queue, its number or a word of its name: ${kindList}`, readKind),
  path: optional(
    "PATH",
    "only the path of a failure that fast-check printed; with --seed and --kind",
    readPath,
  ),
});
if (path !== undefined && (given === undefined || only === undefined)) {
  endWrong(program, "--path goes with --seed and --kind");
}
const kinds = only === undefined ? KINDS : [only];

function readKind(text: string): Kind {
  const word = text.toLowerCase();
  const fitting = KINDS.filter(
    ({ name }, i) => word === String(i) || name.split(" ").includes(word) || word === name,
  );
  const [kind] = fitting;
  if (kind !== undefined && fitting.length === 1) return kind;
  throw new Error(`must be one of ${kindList}, by number or by a word that only its name has`);
}

function readPath(text: string): string {
  if (/^\d+(:\d+)*$/.test(text)) return text;
  throw new Error("must be numbers with colons between them");
}

const real = await Real.start();
const { way } = real;
const partitioned = new RealPartitions(way);

/** Runs one kind of queue. @returns the number of calls */
const run = (kind: Kind, bounds: Bounds): Promise<number> =>
  "isPartitioned" in kind
    ? runPartitionsModel(partitioned, bounds, kind.isOrdered)
    : runModel(real, kind, bounds);

const began = machineNow();
const end = began + (givenMinutes ?? 10) * 60_000;
let total = 0;
try {
  const rounds = given === undefined ? Number.POSITIVE_INFINITY : kinds.length;
  for (let round = 0; machineNow() < end && round < rounds; round++) {
    const kind = kinds[round % kinds.length] as Kind;
    const drawn = given ?? Math.floor(Math.random() * 2 ** 31);
    const again = `npm run test:soak -- --kind ${KINDS.indexOf(kind)} --seed ${drawn}`;
    const onFailure = (error: unknown) => {
      console.log(`differs from the model: ${again}\n${messageOf(error)}\nlooking for a shorter sequence`);
    };
    total += await run(kind, { calls: CALLS, until: end, seed: drawn, path, onFailure }).catch(
      (error: unknown) => {
        throw new Error(`${kind.name}; to repeat it: ${again}\n${messageOf(error)}`, { cause: error });
      },
    );
    const seconds = Math.round((machineNow() - began) / 1_000);
    console.log(`${seconds} s: ${total} calls as in the model; ${kind.name}, seed ${drawn}`);
  }
  console.log(`${total} calls, ${way.mishaps} with a mishap on their way, each as in the model`);
} finally {
  await way.stop();
}
