import { invalidArgument } from "../../errors.ts";
import { type Duration, milliseconds } from "../../kernel/options/duration.ts";
import { onlyOptions, wholeNumber } from "../../kernel/options/validation.ts";

/** When deliveries to an endpoint pause because they fail. */
export interface CircuitOptions {
  /** How long deliveries are counted together. @default "1m" */
  readonly window?: Duration | undefined;
  /** How many of these must have failed, at least. @default 5 */
  readonly failures?: number | undefined;
  /** Which share of them must have failed, above 0 to 1. @default 0.5 */
  readonly share?: number | undefined;
  /** How long deliveries pause at first; each time that the try after it fails, twice as long. @default "30s" */
  readonly pause?: Duration | undefined;
  /** How long they pause at most. @default "30m" */
  readonly longest?: Duration | undefined;
}

/** How the script `report-deliveries` takes them. */
export type CircuitArguments = Readonly<
  Record<"window" | "least" | "share" | "pause" | "longest" | "disableAfter", string>
>;

/** The longest pause by default, ms. */
const LONGEST = 1_800_000;

/**
 * @param disableAfter null: never
 * @throws {SluiceError} `invalid_argument`
 */
export function checkedCircuit(
  circuit: CircuitOptions = {},
  disableAfter: Duration | null = "5d",
): CircuitArguments {
  onlyOptions(circuit, ["window", "failures", "share", "pause", "longest"], "circuit.");
  const { share = 0.5 } = circuit;
  if (typeof share !== "number" || !(share > 0 && share <= 1))
    throw invalidArgument("circuit.share", "must be a number above 0, up to 1");
  const pause = milliseconds(circuit.pause ?? "30s", "circuit.pause", { min: 1_000 });
  const longest = circuit.longest ?? Math.max(pause, LONGEST);
  return {
    window: String(milliseconds(circuit.window ?? "1m", "circuit.window", { min: 1_000 })),
    least: String(wholeNumber(circuit.failures ?? 5, "circuit.failures", 1, 1_000_000)),
    share: String(share * 100),
    pause: String(pause),
    longest: String(milliseconds(longest, "circuit.longest", { min: pause })),
    disableAfter:
      disableAfter === null ? "0" : String(milliseconds(disableAfter, "disableAfter", { min: 60_000 })),
  };
}
