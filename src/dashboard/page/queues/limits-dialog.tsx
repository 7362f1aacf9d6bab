import { useState } from "preact/hooks";
import { changeGroup, changeSettings } from "../api/queues.ts";
import type { Group, Settings } from "../api/types.ts";
import { durationText } from "../format.ts";
import {
  type CheckedField,
  duration,
  hasFault,
  numberIn,
  useField,
  wholeNumber,
} from "../parts/checked-field.ts";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { Select } from "../parts/select.tsx";
import { limitTexts } from "./facts.tsx";

interface LimitsDialogProps {
  readonly queue: string;
  /** The settings of the queue, or a group of it. */
  readonly of: Settings | Group;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const million = wholeNumber(1, 1_000_000);
const period = duration(1);

/** A setting, if its field was changed. An empty field removes it. */
const changed = <Name extends string>(name: Name, field: CheckedField) =>
  (field.isChanged ? { [name]: numberIn(field) ?? null } : {}) as { readonly [_ in Name]?: number | null };

/** What the field of the order has, and the settings that it means. */
const orders = {
  queue: { order: null, onDead: null },
  none: { order: "none" as "strict", onDead: null },
  strict: { order: "strict", onDead: "continue" },
  stop: { order: "strict", onDead: "stop" },
} as const;
type Ordered = keyof typeof orders;

const inOrder = { strict: "in strict order", stop: "in strict order, until a dead letter stops the group" };

const orderOf = ({ order, onDead }: Settings | Group): Ordered =>
  order === "strict" ? (onDead === "stop" ? "stop" : "strict") : (order ?? "queue");

/** Changes the limits of a queue, or the share and the limits of a group. */
export function LimitsDialog({ queue, of, onDone, onClose }: LimitsDialogProps) {
  const isGroup = "group" in of;
  const name = isGroup ? of.group : queue;
  const weight = useField(wholeNumber(1, 100), isGroup ? of.weight : "");
  const maxWorking = useField(million, of.maxWorking ?? "");
  const most = useField(million, of.rate?.most);
  const per = useField(period, of.rate === null ? "" : durationText(of.rate.per));
  const maxPending = useField(wholeNumber(1, 100_000_000), isGroup ? "" : (of.maxPending ?? ""));
  const [first] = useState(orderOf(of));
  const [order, setOrder] = useState(first);
  const isPerMissing = most.given !== "" && per.given === "";
  const run = async () => {
    const rate = numberIn(most) === undefined ? null : { most: Number(most.given), per: per.given as "1m" };
    // Others may have changed what this viewer has not.
    const limits = {
      ...changed("maxWorking", maxWorking),
      ...((most.isChanged || per.isChanged) && { rate }),
      ...(order !== first && orders[order]),
    };
    const now = isGroup
      ? await changeGroup(queue, of.group, { ...limits, ...changed("weight", weight) })
      : await changeSettings(queue, { ...limits, ...changed("maxPending", maxPending) });
    const share = "weight" in now ? `weight ${now.weight}, ` : "";
    announce(`${name} now has: ${share}${limitTexts(now).join(", ") || "no limit"}.`);
    onDone();
  };
  return (
    <FormDialog
      title={`Limits of ${name}`}
      action="Change"
      invalid={isPerMissing || hasFault(weight, maxWorking, most, per, maxPending)}
      run={run}
      onClose={onClose}
    >
      <p class="hint">They hold from the next dequeue on. An empty field is no limit.</p>
      <div class="row">
        {isGroup && <Field label="Weight, 1 to 100" hint="1" {...weight} />}
        <Field label="Most working tasks" hint="no limit" {...maxWorking} />
        {!isGroup && <Field label="Most pending tasks" hint="no limit" {...maxPending} />}
      </div>
      <div class="row">
        <Field label="Rate: most tasks" hint="no limit" {...most} />
        <Field
          label="in each"
          hint="such as 1s or 1m"
          {...per}
          fault={isPerMissing ? `A rate needs a time: ${period.allowed}.` : per.fault}
        />
      </div>
      <Select
        label="Tasks of a group"
        value={order}
        set={(value) => setOrder(value as Ordered)}
        options={
          isGroup
            ? { queue: "as the queue says", none: "side by side", ...inOrder }
            : { queue: "side by side", ...inOrder }
        }
      />
    </FormDialog>
  );
}
