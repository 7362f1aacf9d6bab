import { beforeEach } from "vitest";
import type { Platform, ServiceOptions } from "../../src/deploy/service.ts";
import type { NewTask, Transport } from "../../src/index.ts";
import type { Rig } from "../support/rig.ts";
import type { useDeployments } from "./deployments.ts";

export const noneLeft = { pending: 0, working: 0, delayed: 0, rejected: 0 };

type Options = Pick<ServiceOptions, "queues" | "offload" | "fetch"> & {
  readonly platform?: Partial<Platform> | undefined;
};

/** Deployments whose requests enqueue tasks, and the scripts that they call. */
export function useHandOvers(rig: Rig, its: ReturnType<typeof useDeployments>) {
  const called: string[] = [];
  const around = {
    /** Called after each request, before its answer is returned. */
    answered: (() => {}) as (script: string | undefined) => unknown,
  };
  beforeEach(() => {
    called.splice(0);
    around.answered = () => {};
  });

  const recording = (): Transport => ({
    async send(commands, options) {
      const last = commands.at(-1);
      const script = last && "script" in last ? last.script.name : undefined;
      if (script) called.push(script);
      const outcomes = await rig.transport.send(commands, options);
      await around.answered(script);
      return outcomes;
    },
  });

  /** A deployment whose requests enqueue tasks, together if there are several. */
  function deployment(
    consumers: ServiceOptions["consumers"],
    tasks: readonly NewTask<unknown>[] = [{ payload: 1 }],
    { platform, ...options }: Options = {},
    env?: Readonly<Record<string, string>>,
  ) {
    const fetch: ServiceOptions["fetch"] = async (_, { queue }) =>
      Response.json(await queue("emails").enqueueMany(tasks));
    const deployed = its.deployment(
      { consumers, fetch, ...options },
      { transport: recording, ...platform },
      env,
    );
    return {
      ...deployed,
      /** Makes a request, and waits until the consumers have ended. */
      async request(path?: string, json?: unknown) {
        const response = await deployed.call(path, json);
        await deployed.ended();
        return response;
      },
    };
  }

  return Object.assign(around, {
    /** The scripts that were called, in order. */
    called,
    recording,
    deployment,
    /** Whether tasks were leased by their enqueue: the consumer began without a dequeue. */
    wereHandedOver: () => called[called.indexOf("enqueueAndLease") + 1] !== "dequeue",
  });
}
