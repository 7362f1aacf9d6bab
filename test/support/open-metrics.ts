/** A strict reader of the text of OpenMetrics 1.0 and of Prometheus 0.0.4, as far as gauges, counters and histograms go. */

export interface ReadFamily {
  readonly type: string;
  readonly unit: string | undefined;
  readonly help: string;
  /** The samples in order: name with labels, such as `a_total{queue="q"}`, and value. */
  readonly samples: readonly (readonly [name: string, value: number])[];
}

type Draft = { -readonly [Key in keyof ReadFamily]: ReadFamily[Key] } & { samples: [string, number][] };

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  gauge: [""],
  counter: ["_total"],
  histogram: ["_bucket", "_count", "_sum"],
};
const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`;
const SAMPLE = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)(?:\{(${LABEL}(?:,${LABEL})*)\})? (\d+(?:\.\d+)?)$`);

/** @throws {Error} for the first line that breaks a rule of the format */
export function readMetrics(text: string, format: "openmetrics" | "prometheus"): Map<string, ReadFamily> {
  const open = format === "openmetrics";
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const lines = text.slice(0, -1).split("\n");
  if (open && lines.pop() !== "# EOF") throw new Error("no EOF at the end");
  const families = new Map<string, Draft>();
  const names = new Set<string>();
  let current: [string, Draft] | undefined;
  for (const line of lines) {
    const refuse = (why: string) => new Error(`${why}: ${line}`);
    const [, keyword, name = "", rest = ""] = /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === "TYPE") {
      if (families.has(name)) throw refuse("a family comes twice");
      if (!(rest in SUFFIXES)) throw refuse("unknown type");
      if (open && name.endsWith("_total")) throw refuse("a family is named as a sample");
      current = [name, { type: rest, unit: undefined, help: "", samples: [] }];
      families.set(...current);
    } else if (keyword !== undefined) {
      if (!current || current[0] !== name) throw refuse("metadata of another family");
      if (current[1].samples.length > 0) throw refuse("metadata behind samples");
      if (keyword === "UNIT" && !(open && name.endsWith(`_${rest}`))) throw refuse("a wrong unit");
      if (/\\[^\\n"]/.test(rest)) throw refuse("a wrong escape");
      if (keyword === "UNIT") current[1].unit = rest;
      else current[1].help = rest;
    } else {
      const [, sample, labels = "", value] = SAMPLE.exec(line) ?? [];
      if (!sample || !current) throw refuse("not a line of the format");
      const base = open || current[1].type !== "counter" ? current[0] : current[0].replace(/_total$/, "");
      const suffixes = SUFFIXES[current[1].type] ?? [];
      if (!suffixes.some((suffix) => sample === base + suffix)) throw refuse("a sample of another family");
      const keys = Array.from(labels.matchAll(new RegExp(LABEL, "g")), ([label]) => label.split("=")[0]);
      if (new Set(keys).size !== keys.length) throw refuse("a label twice");
      const full = labels === "" ? sample : `${sample}{${labels}}`;
      if (names.has(full)) throw refuse("a sample twice");
      names.add(full);
      current[1].samples.push([full, Number(value)]);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

/** Buckets rise, end with that of all, and agree with the count. */
function checkHistogram(name: string, { samples }: ReadFamily): void {
  let below = 0;
  let bound = 0;
  for (const [sample, value] of samples) {
    const le = /le="([^"]+)"/.exec(sample)?.[1];
    if (sample.startsWith(`${name}_bucket`)) {
      const next = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
      if (!/^(?:\d+\.\d+|\+Inf)$/.test(le ?? "") || next <= bound || value < below)
        throw new Error(`a wrong bucket: ${sample}`);
      bound = next;
      below = value;
    } else if (sample.startsWith(`${name}_count`)) {
      if (bound !== Number.POSITIVE_INFINITY || value !== below) throw new Error(`a wrong count: ${sample}`);
      bound = 0;
      below = 0;
    }
  }
}
