/** The text formats of OpenMetrics 1.0 and of Prometheus (0.0.4). */

export type Format = "openmetrics" | "prometheus";

type Labels = Readonly<Record<string, string>>;

/** A value with its labels. `suffix`: what its name has behind that of its family. */
export interface Sample {
  readonly suffix?: "_total" | "_bucket" | "_count" | "_sum" | undefined;
  readonly labels?: Labels | undefined;
  readonly value: number;
}

/** A metric with all its samples. */
export interface MetricFamily {
  /** Without `_total`. It ends with the unit, if the family has one. */
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  readonly unit?: "seconds" | undefined;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const contentTypes: Readonly<Record<Format, string>> = {
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
};

export const contentTypeOf = (format: Format): string => contentTypes[format];

/** The format that a caller asks for: OpenMetrics, unless the header names only `text/plain`. */
export function formatOf(accept: string | undefined): Format {
  const asked = accept?.toLowerCase() ?? "";
  return asked.includes("text/plain") && !asked.includes("application/openmetrics-text")
    ? "prometheus"
    : "openmetrics";
}

/** Writes the families. Those without samples are left out. */
export function writeMetrics(families: readonly MetricFamily[], format: Format): string {
  const parts = families.filter(({ samples }) => samples.length > 0).map((one) => writeFamily(one, format));
  return parts.join("") + (format === "openmetrics" ? "# EOF\n" : "");
}

function writeFamily({ name, type, unit, help, samples }: MetricFamily, format: Format): string {
  const open = format === "openmetrics";
  // In the older format, `_total` is a part of the name of the family.
  const named = type === "counter" && !open ? `${name}_total` : name;
  const lines = [
    `# TYPE ${named} ${type}`,
    ...(open && unit ? [`# UNIT ${named} ${unit}`] : []),
    `# HELP ${named} ${open ? escaped(help) : escapedLine(help)}`,
    ...samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${writeLabels(labels)} ${value}`),
  ];
  return `${lines.join("\n")}\n`;
}

function writeLabels(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapedLine = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escaped = (text: string) => escapedLine(text).replaceAll('"', '\\"');
