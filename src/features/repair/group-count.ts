/** The counts that a group's state should have. */
interface Numbers {
  working: number;
  /** Tasks in `fair` by priority, with the last of their tags. */
  readonly ready: Map<string, { count: number; last: number }>;
}

/** Counts the tasks of groups. A scan may return a task twice; it counts once. */
export class GroupCount {
  readonly #seen = new Set<string>();
  readonly #groups = new Map<string, Numbers>();

  /** How many tasks were counted. */
  get size(): number {
    return this.#seen.size;
  }

  /**
   * Adds a task.
   * @param task.counted `1` for a working task, `<priority>=<tag>` for a task in `fair`; empty for a task in
   *   `limited`, which is not counted
   */
  add({ id, group, counted }: { id: string; group: string; counted: string }): void {
    if (counted === "") return;
    const [priority = "", tag] = counted.split("=");
    const key = `${tag === undefined ? "w" : "r"} ${id}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const numbers = this.#groups.get(group) ?? { working: 0, ready: new Map() };
    this.#groups.set(group, numbers);
    if (tag === undefined) numbers.working++;
    else {
      const { count, last } = numbers.ready.get(priority) ?? { count: 0, last: 0 };
      numbers.ready.set(priority, { count: count + 1, last: Math.max(last, Number(tag)) });
    }
  }

  /** The states of the groups, as the control field `~g:<group>` holds them. */
  states(): Map<string, string> {
    const states = Array.from(this.#groups, ([group, { working, ready }]): [string, string] => {
      const shares = [...ready].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return [
        group,
        `1;w=${working}${shares.map(([p, { count, last }]) => `;${p}=${last},${count}`).join("")}`,
      ];
    });
    return new Map(states);
  }
}
