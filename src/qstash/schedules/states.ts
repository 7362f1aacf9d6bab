import type { TaskInfo } from "../../kernel/record/task-info.ts";
import { atOnce } from "../at-once.ts";
import { dueId, messageId, messages, ordered, type Publication } from "../message.ts";
import { type Stored, storedOf } from "../session.ts";
import type { UrlGroup } from "../kept/url-groups.ts";

/** What has become of a message, as QStash shows it with its schedule. */
export type ScheduledState = "IN_PROGRESS" | "SUCCESS" | "FAIL";

/** The last occurrence of a schedule. */
export interface LastOccurrence {
  /** The id of its task. */
  readonly id: string;
  readonly publish: Publication["publish"];
}

/**
 * What has become of the messages of occurrences, by their ids: two requests for all of them. Messages whose records
 * are gone are left out.
 */
export function statesOf(
  stored: Stored,
  occurrences: readonly LastOccurrence[],
): Promise<Record<string, ScheduledState>[]> {
  return atOnce(stored, occurrences, async (open, { id, publish: { destination, queue } }) => {
    const { records } = storedOf(open);
    const isGroup = !/^https?:/i.test(destination);
    const group = isGroup ? await records<UrlGroup>("url-groups").get(destination) : undefined;
    const due = dueId(id);
    const ids = isGroup ? (group?.endpoints ?? []).map((_, i) => `${due}.${i}`) : [due];
    const its = queue === undefined ? messages : ordered;
    const [publication, ...found] = await Promise.all([
      open(messages).queue().get(id),
      ...ids.map((one) => open(its).queue().get(one)),
    ]);
    const states = ids.flatMap((one, i) => {
      const state = found[i] ? stateOf(found[i]) : unpublished(publication);
      return state ? [[messageId({ queue: its.name, id: one }), state] as const] : [];
    });
    return Object.fromEntries(states);
  });
}

type Known = Pick<TaskInfo, "state">;

function stateOf({ state }: Known): ScheduledState {
  return state === "completed" ? "SUCCESS" : state === "rejected" ? "FAIL" : "IN_PROGRESS";
}

/** The state of a message that is not there, by the task that publishes it. After that its record has expired. */
function unpublished(publication: Known | null): ScheduledState | undefined {
  return publication && publication.state !== "completed" ? stateOf(publication) : undefined;
}
