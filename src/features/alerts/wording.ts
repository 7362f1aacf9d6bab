/** Numbers as the texts of alerts show them. */

/** Such as `12,000`. */
export function amount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Such as `12.5 %`, of a share of 1. */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}
