import {
  noteIsApplied,
  readOne,
  readRegistry,
  type Registered,
  timeOf,
  type Where,
} from "../../features/endpoints/index.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { endpointDisabled, endpointHookFailed } from "../../log/lines.ts";
import { toConsole } from "../../log/logger.ts";
import { configure } from "../../lua/linked/configure.gen.ts";
import { configureGroup } from "../../operate/configure.ts";
import { groupChanges, pauseUntil, type SettingItem } from "../../operate/settings.ts";
import type { OpenQueue } from "../opening.ts";
import { operatedOf } from "./operated.ts";
import { endpointInfo, type EndpointInfo } from "./endpoint-info.ts";

/** How often a change is applied while others change the endpoint too. */
const TRIES = 3;

/** Gives the groups of deliveries the settings of their endpoints. */
export class Groups {
  readonly #where: Where;
  readonly #open: OpenQueue;
  readonly #hook: ((endpoint: EndpointInfo) => unknown) | undefined;

  constructor(where: Where, open: OpenQueue, hook: ((endpoint: EndpointInfo) => unknown) | undefined) {
    this.#where = where;
    this.#open = open;
    this.#hook = hook;
  }

  /**
   * Applies what has changed in an endpoint, and reports one that was disabled.
   * @param options.resumes ends a pause of the group
   * @param options.ofLimits a change that neither pauses the group nor is reported: the state was applied before
   * @throws {SluiceError}
   */
  async apply(
    id: string,
    options: SendOptions & { readonly resumes?: boolean; readonly ofLimits?: string | undefined } = {},
  ): Promise<void> {
    const { ofLimits, resumes: given = false, ...ofRequest } = options;
    let resumes = given;
    for (let tries = 0; tries < TRIES; tries++) {
      const { endpoint } = await readOne(this.#where, id, ofRequest);
      const now = timeOf(this.#where);
      const wasApplied = endpoint?.circuit.changed === ofLimits;
      const settings = endpoint ? settingsOf(endpoint, now, { resumes, isPaused: wasApplied }) : NONE;
      const queue = operatedOf(this.#open);
      const { pausedUntil } = await configureGroup(queue, id, settings, ofRequest, configure);
      if (!endpoint || (await this.#isDone(endpoint, now, wasApplied, ofRequest))) return;
      // The circuit may be closed by now. What an operator has paused for longer stays so.
      resumes ||= endpoint.circuit.state === "open" && pausedUntil === endpoint.circuit.until;
    }
  }

  /** Applies what other calls have left. */
  async upkeep(options: SendOptions): Promise<void> {
    const { endpoints } = await readRegistry(this.#where, options);
    if ([...endpoints.values()].every(isSettled)) return;
    // What is known may be ten seconds old.
    const { endpoints: current } = await readRegistry(this.#where, { ...options, fresh: true });
    for (const endpoint of current.values()) {
      if (!isSettled(endpoint)) await this.apply(endpoint.id, options);
    }
  }

  async #isDone(
    endpoint: Registered,
    now: number,
    wasApplied: boolean,
    options: SendOptions,
  ): Promise<boolean> {
    const { id, circuit } = endpoint;
    if (circuit.isApplied) return true;
    const { reason } = circuit;
    const mustReport = !wasApplied && reason !== null && reason !== "operator";
    if (mustReport && !(await this.#reported(endpointInfo(endpoint, now)))) return true;
    return noteIsApplied(this.#where, id, circuit.changed, options);
  }

  /** Whether that succeeded. If not, a sweep tries again. */
  async #reported(endpoint: EndpointInfo): Promise<boolean> {
    toConsole(endpointDisabled(endpoint.id, endpoint.disabledReason ?? ""));
    try {
      await this.#hook?.(endpoint);
      return true;
    } catch (error) {
      toConsole(endpointHookFailed(endpoint.id, error));
      return false;
    }
  }
}

/** The settings of a group without endpoint. */
const NONE = groupChanges({ paused: null, maxWorking: null, rate: null, order: null });

function settingsOf(
  { record, circuit }: Registered,
  now: number,
  { resumes, isPaused }: { readonly resumes: boolean; readonly isPaused: boolean },
): readonly SettingItem[] {
  const { maxWorking = null, rate = null, order = null } = record;
  const own = { rate, order };
  // What an operator has paused stays so, unless the endpoint gets another state.
  if (circuit.state !== "open")
    return groupChanges({ ...own, maxWorking, ...((resumes || circuit.reason) && { paused: null }) });
  // Deliveries are tried one at a time, until one succeeds.
  const settings = groupChanges({ ...own, maxWorking: 1 });
  return circuit.until > now && !isPaused ? [...settings, pauseUntil(circuit.until)] : settings;
}

function isSettled({ circuit }: Registered): boolean {
  return circuit.isApplied;
}
