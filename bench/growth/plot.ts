// Draws how times and memory change as a queue grows: a panel for each state, and one for the memory.

import { whole } from "../report.ts";
import { type Growth, SMALL } from "./one-queue.ts";
import { OPERATIONS } from "./round.ts";

const WIDTH = 240;
const HEIGHT = 200;
const COLUMNS = 3;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 18, 34, 36];
const GOAL = 1.5;
const BLUE = "#00658a";
const RED = "#b3261e";

interface Line {
  readonly color: string;
  readonly values: readonly { readonly size: number; readonly value: number }[];
  /** Written at its end. */
  readonly label?: string;
}

interface Panel {
  readonly title: string;
  readonly top: number;
  readonly ticks: readonly number[];
  readonly goal?: number;
  readonly lines: readonly Line[];
}

/** Such as 100k. */
const short = (size: number) => (size >= 1e6 ? `${size / 1e6}M` : `${size / 1e3}k`);

function draw({ title, top, ticks, goal, lines }: Panel, sizes: readonly number[]): string[] {
  const [from, to] = [Math.log10(SMALL), Math.log10(sizes.at(-1) ?? SMALL)];
  const x = (size: number) =>
    (LEFT + ((Math.log10(size) - from) / (to - from)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (value: number) => (HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const across = (value: number, style: string) =>
    `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" ${style}/>`;
  return [
    `<text x="${LEFT}" y="${TOP - 14}" font-weight="600">${title}</text>`,
    ...ticks.flatMap((value) => [
      across(value, 'stroke="#ddd"'),
      `<text x="${LEFT - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${whole(value)}</text>`,
    ]),
    ...sizes.map(
      (size) => `<text x="${x(size)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${short(size)}</text>`,
    ),
    ...(goal === undefined ? [] : [across(goal, 'stroke="#8a6d00" stroke-dasharray="4 3"')]),
    ...lines.map(({ color, values }) => {
      const points = values.map(({ size, value }) => `${x(size)},${y(value)}`).join(" ");
      return `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="1.5"/>`;
    }),
    ...labelsOf(lines, (value) => Number(y(value))),
  ];
}

/** The labels above the ends of lines, one above the other if they are close. */
function labelsOf(lines: readonly Line[], y: (value: number) => number): string[] {
  let lowest = Number.POSITIVE_INFINITY;
  return lines
    .map(({ color, values, label }) => ({ color, label, end: values.at(-1)?.value ?? 0 }))
    .toSorted((a, b) => a.end - b.end)
    .flatMap(({ color, label, end }) => {
      if (label === undefined) return [];
      lowest = Math.min(y(end) - 5, lowest - 12);
      return `<text x="${WIDTH - RIGHT}" y="${lowest.toFixed(1)}" text-anchor="end" fill="${color}">${label}</text>`;
    });
}

function timesOf({ name, sizes, moving }: Growth, top: number): Panel {
  const measured = OPERATIONS.filter((operation) => moving.has(operation));
  const lines = measured.map((operation): Line => {
    const ratios = sizes.map(({ size, compared }) => ({ size, value: compared.get(operation)?.ratio ?? 0 }));
    const steep = (ratios.at(-1)?.value ?? 0) > GOAL;
    return {
      color: steep ? RED : BLUE,
      values: [{ size: SMALL, value: 1 }, ...ratios],
      ...(steep && { label: operation }),
    };
  });
  return { title: name, top, ticks: Array.from({ length: top + 1 }, (_, i) => i), goal: GOAL, lines };
}

function memoryOf(grown: readonly Growth[]): Panel {
  const lines = grown.map(({ name, sizes }) => ({
    color: BLUE,
    values: sizes.map(({ size, bytes }) => ({ size, value: bytes })),
    label: name,
  }));
  return { title: "bytes a task", top: 1_000, ticks: [0, 250, 500, 750, 1_000], lines };
}

/** @returns the text of an SVG */
export function plot(grown: readonly Growth[]): string {
  const sizes = [SMALL, ...(grown[0]?.sizes.map(({ size }) => size) ?? [])];
  const ratios = grown.flatMap((growth) =>
    growth.sizes.flatMap(({ compared }) => [...compared.values()].map(({ ratio }) => ratio)),
  );
  const top = Math.ceil(Math.max(2, ...ratios));
  const panels = [...grown.map((growth) => timesOf(growth, top)), memoryOf(grown)];
  const height = HEIGHT * Math.ceil(panels.length / COLUMNS) + 22;
  const width = WIDTH * COLUMNS;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...panels.flatMap((panel, i) => [
      `<g transform="translate(${(i % COLUMNS) * WIDTH} ${Math.floor(i / COLUMNS) * HEIGHT})">`,
      ...draw(panel, sizes),
      "</g>",
    ]),
    `<text x="${width / 2}" y="${height - 10}" text-anchor="middle">tasks in this state; each line is an operation, its time with 1,000 tasks is 1; the dashed line is the goal</text>`,
    "</svg>",
    "",
  ].join("\n");
}
