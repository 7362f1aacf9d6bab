/** What the records of nodes hold in Redis. */

/** As `nodeText` of the model: the flow, the edges while they count, and how long it is kept. */
export function realNodeText(record: Readonly<Record<string, string>>): string {
  const { F: flow, J: kind, s: state = "", y: reason, Q: edges = "", K: kept = "" } = record;
  if (flow === undefined || state === "g") return "";
  const counts = kind === "j" || state === "" || reason === "dependency_failed";
  const letters = counts && state !== "x" ? edges.replace(/^\d+,\d+,/, "") : "";
  return [flow, letters, state === "c" || state === "r" ? kept : ""].join(" ");
}
