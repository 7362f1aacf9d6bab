/** What changes the balance of an account. The order matters: interest is paid on the balance of its moment. */
export type Entry = { readonly account: string; readonly number: number } & (
  | { readonly kind: "deposit" | "withdrawal"; readonly cents: number }
  | { readonly kind: "interest"; readonly percent: number }
);

/** The next balance of an account, in cents. */
export function applied(balance: number, entry: Entry): number {
  if (entry.kind === "interest") return balance + Math.floor((balance * entry.percent) / 100);
  return entry.kind === "deposit" ? balance + entry.cents : balance - entry.cents;
}

/** The same entries each time: those of all accounts, one of each in turn. */
export function makeEntries(accounts: number, each: number): Entry[] {
  const random = generator(41);
  const names = Array.from({ length: accounts }, (_, i) => `account-${i + 1}`);
  return Array.from({ length: each }, (_, number) =>
    names.map((account): Entry => {
      const kind = (["deposit", "deposit", "withdrawal", "interest"] as const)[random(4)] ?? "deposit";
      return kind === "interest"
        ? { account, number, kind, percent: 1 + random(5) }
        : { account, number, kind, cents: 100 + random(10_000) };
    }),
  ).flat();
}

/** The balances of all accounts after their entries, applied one after the other. */
export function balancesOf(entries: readonly Entry[]): Map<string, number> {
  const balances = new Map<string, number>();
  for (const entry of entries) balances.set(entry.account, applied(balances.get(entry.account) ?? 0, entry));
  return balances;
}

/** Whole numbers from 0, the same each time (mulberry32). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
