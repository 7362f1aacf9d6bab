import { freePort } from "../../../src/local/stack/port.ts";
import { mapsKey } from "../../../src/kernel/names/keys.ts";
import { readMap } from "../../../src/features/partitions/map.ts";
import { readKeySpace } from "../../support/key-space.ts";
import type { Role } from "./processes.ts";
import { ONCE, type Shares, SingleStack, type Trouble } from "./stack.ts";
import { QUEUES } from "./work.ts";

/** How many partitions one version of the deployments after another declares. */
const DECLARED = [4, 2, 4, 1, 6, 3];
/** Most partitions that an operator asks for. */
const MOST = 6;
/** How long an operator waits for the answer, ms. */
const PATIENCE = 3_000;

/**
 * One Redis behind the gateway, used by deployments: their consumers work, their cron sweeps, and producers enqueue
 * through them and past them. Their queues get more and fewer partitions, by declarations and by an operator.
 */
export class PartitionStack extends SingleStack {
  override readonly shares: Shares = {
    deployment: { kill: 4, pause: 3 },
    receiver: ONCE,
    consumer: ONCE,
    producer: ONCE,
    deepSweeper: ONCE,
  };
  override readonly certain = ["redis", "gateway", "deployed", "resized"];
  #deployed = 0;

  protected override async players(): Promise<readonly Role[]> {
    const [first, second, lambda] = await Promise.all([1, 2, 3].map(freePort));
    const at = (port: number | undefined) => ({ url: `http://127.0.0.1:${port}` });
    return [
      { name: "producer-1", program: "producer" },
      { name: "producer-2", program: "producer", style: "partitions" },
      { name: "producer-3", program: "producer", through: "server", ...at(first) },
      { name: "producer-4", program: "producer", through: "server", ...at(lambda) },
      { name: "flows-1", program: "producer", style: "flows" },
      { name: "flows-2", program: "producer", style: "flows", through: "server", ...at(second) },
      { name: "node-1", program: "deployment", style: "node", ...at(first) },
      { name: "node-2", program: "deployment", style: "node", ...at(second) },
      { name: "lambda-1", program: "deployment", style: "lambda", ...at(lambda) },
      { name: "receiver-1", program: "receiver" },
      { name: "drain-1", program: "consumer", style: "drain" },
      { name: "hand-1", program: "consumer", style: "hand", through: "server" },
      { name: "worker-1", program: "consumer", style: "worker" },
      { name: "deep-1", program: "deepSweeper", style: "all" },
      { name: "deep-2", program: "deepSweeper", style: "slow" },
    ];
  }

  override troubles(pause: (role: Role) => void): readonly Trouble[] {
    return [...super.troubles(pause), this.#deploy, this.#deploy, this.#resize, this.#resize];
  }

  /** A new version of the deployments, which declares another number, replaces one process after another. */
  readonly #deploy: Trouble = async () => {
    const { processes, options } = this;
    processes.partitions = DECLARED[this.#deployed++ % DECLARED.length] ?? 1;
    options.ledger.write({ what: "fault", kind: "deployed" });
    for (const role of processes.of("deployment")) {
      await processes.restart(role);
      await processes.settled([role]);
    }
  };

  /** An operator changes the number of a queue's partitions, through the server. */
  readonly #resize: Trouble = async () => {
    const { roll, ledger, environment } = this.options;
    const names = Object.values(QUEUES);
    const name = names[roll(names.length)] ?? "";
    ledger.write({ what: "fault", kind: "resized" });
    const answer = await fetch(`${environment.CHAOS_SERVER}/v1/queues/${name}/partitions`, {
      method: "PUT",
      headers: { authorization: `Bearer ${environment.CHAOS_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ count: 1 + roll(MOST) }),
      signal: AbortSignal.timeout(PATIENCE),
    }).catch(() => undefined);
    // Redis may be out of reach, or the server.
    if (answer && !answer.ok && answer.status < 500)
      ledger.write({
        what: "broken",
        error: `a resize was answered ${answer.status} ${await answer.text()}`,
      });
  };

  override async history() {
    const { commands, faults } = await super.history();
    const maps = (await readKeySpace(this.redis.url))[mapsKey()];
    const fixed = Object.values(QUEUES).filter((name) => {
      const text = maps && "hash" in maps ? maps.hash[name] : undefined;
      return name !== QUEUES.recalled && readMap(text ?? null).version < 2;
    });
    return { commands, faults: [...faults, ...fixed.map((name) => `${name} never changed its partitions`)] };
  }
}
