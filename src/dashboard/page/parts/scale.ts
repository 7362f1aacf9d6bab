/** The top of a chart. */
export interface Scale {
  /** The highest value that is drawn in full. */
  readonly top: number;
  readonly highest: number;
  /** Whether bars above the top are cut. */
  readonly isCut: boolean;
}

/** The share of bars that is always drawn in full. */
const USUAL = 0.9;

/** How much higher than the usual bars the highest may be before it is cut. */
const MOST = 4;

/** The scale of some counts. If a burst would flatten all others, it is cut at twice what is usual. */
export function scaleOf(values: readonly number[]): Scale {
  const counts = values.filter((value) => value > 0).toSorted((a, b) => a - b);
  const highest = counts.at(-1) ?? 0;
  const usual = counts[Math.floor(USUAL * (counts.length - 1))] ?? 0;
  const isCut = highest > MOST * usual;
  return { top: Math.max(1, isCut ? 2 * usual : highest), highest, isCut };
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

interface Box {
  readonly width: number;
  readonly height: number;
  /** Whether bars hang from the top. @default false */
  readonly down?: boolean;
}

/** Bars as one path. */
export function bars(values: readonly number[], top: number, { width, height, down = false }: Box): string {
  const step = width / values.length;
  return values
    .map((value, i) => {
      if (value === 0) return "";
      const size = Math.max(1.5, Math.min(1, value / top) * height);
      const [from, to] = down ? [0, size] : [height, height - size];
      const [left, wide] = [i * step + step * 0.15, step * 0.7].map((place) => place.toFixed(1));
      return `M${left} ${from}V${to.toFixed(1)}h${wide}V${from}z`;
    })
    .join("");
}

/** Gaps near the top of the bars that are cut, as one path. */
export function cuts(values: readonly number[], top: number, { width, height }: Box): string {
  const step = width / values.length;
  const mark = (i: number) =>
    `M${(i * step).toFixed(1)} ${height * 0.22}l${step.toFixed(1)} -5v3l${(-step).toFixed(1)} 5z`;
  return values.map((value, i) => (value > top ? mark(i) : "")).join("");
}
