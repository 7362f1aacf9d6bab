import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly title: string;
  /** Numbers are on the right. */
  readonly count?: boolean;
  readonly of: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What is shown without rows. */
  readonly empty: string;
}

/**
 * A table. On a narrow screen each row becomes a card, whose cells have the titles of their columns.
 * Its roles are given, because browsers forget them where CSS changes how it is displayed.
 */
export function Table<Row>({ label, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <table class="list" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, count }) => (
            <th key={title} role="columnheader" scope="col" class={count ? "count" : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, count, of }) => (
              <td key={title} role="cell" data-title={title} class={count ? "count" : undefined}>
                {of(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
