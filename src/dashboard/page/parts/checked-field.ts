/** Fields of dialogs whose texts are checked, so that no wrong text is sent as something else. */
import { useState } from "preact/hooks";
import { MAX_DURATION } from "../../../kernel/options/duration.ts";
import { durationOf, durationText } from "../format.ts";

/** What a field takes. An empty field is always allowed. */
interface Rule {
  readonly allowed: string;
  readonly fits: (text: string) => boolean;
}

const between = (value: number, least: number, most: number) => value >= least && value <= most;

export const wholeNumber = (least: number, most: number): Rule => ({
  allowed: `a whole number from ${least} to ${most}, in digits only`,
  fits: (text) => /^\d+$/.test(text) && between(Number(text), least, most),
});

export const decimal = (least: number, most: number): Rule => ({
  allowed: `a number from ${least} to ${most}, such as 5 or 0.5`,
  fits: (text) => /^\d+(\.\d+)?$/.test(text) && between(Number(text), least, most),
});

/** @param least the shortest, ms */
export const duration = (least = 0): Rule => ({
  allowed:
    "a number and a unit (ms, s, m, h, d), such as 30s or 5m" +
    (least < 1_000 ? "" : `, of at least ${durationText(least)}`),
  fits: (text) => {
    const ms = durationOf(text);
    return Number.isInteger(ms) && between(ms, least, MAX_DURATION);
  },
});

/** A field of a dialog, and what is wrong with its text. */
export interface CheckedField {
  readonly value: string;
  readonly set: (text: string) => void;
  /** The text without spaces around it. */
  readonly given: string;
  /** Whether it is another text than at first. */
  readonly isChanged: boolean;
  /** What is wrong, for the viewer. */
  readonly fault: string | undefined;
}

export function useField({ allowed, fits }: Rule, initial: string | number = ""): CheckedField {
  const [first] = useState(String(initial));
  const [value, set] = useState(first);
  const given = value.trim();
  const isRight = given === "" || fits(given);
  return {
    value,
    set,
    given,
    isChanged: given !== first,
    fault: isRight ? undefined : `It must be ${allowed}.`,
  };
}

/** The number of a field; undefined if it is empty. */
export const numberIn = ({ given }: CheckedField) => (given === "" ? undefined : Number(given));

export const hasFault = (...fields: readonly CheckedField[]) =>
  fields.some(({ fault }) => fault !== undefined);
