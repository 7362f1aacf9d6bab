import type { ComponentChildren } from "preact";
import type { Selection } from "./selection.ts";

export interface Column<Row> {
  readonly title: string;
  /** Numbers are on the right. */
  readonly count?: boolean;
  /** Takes all the width that the others leave. */
  readonly fills?: boolean;
  readonly of: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** What is shown without rows. */
  readonly empty: string;
  /** Gives each row a tick box. */
  readonly selection?: Selection<Row> | undefined;
}

/**
 * A table. On a narrow screen each row becomes a card, whose cells have the titles of their columns.
 * Its roles are given, because browsers forget them where CSS changes how it is displayed.
 */
export function Table<Row>({ label, columns, rows, keyOf, empty, selection }: TableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <table class="list" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {selection && (
            <th role="columnheader" scope="col" class="tick">
              <span class="unseen">Select</span>
            </th>
          )}
          {columns.map(({ title, ...column }) => (
            <th key={title} role="columnheader" scope="col" class={classOf(column)}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => {
          const key = keyOf(row);
          const isTicked = selection?.chosen.has(key) ?? false;
          return (
            <tr key={key} role="row" class={isTicked ? "ticked" : undefined}>
              {selection && (
                <td role="cell" class="tick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${key}`}
                    checked={isTicked}
                    onClick={({ shiftKey }) => selection.toggle(key, shiftKey)}
                  />
                </td>
              )}
              {columns.map(({ title, of, ...column }) => (
                <td key={title} role="cell" data-title={title} class={classOf(column)}>
                  {of(row)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const classOf = ({ count, fills }: Pick<Column<never>, "count" | "fills">) =>
  count ? "count" : fills ? "fills" : undefined;

interface RowButtonsProps {
  /** What they act on. Only screen readers need it. */
  readonly of: string;
  readonly actions: readonly (readonly [name: string, act: () => void])[];
}

/** What can be done with a row. */
export const RowButtons = ({ of, actions }: RowButtonsProps) => (
  <span class="row-buttons">
    {actions.map(([name, act]) => (
      <button key={name} type="button" class="small" aria-label={`${name} ${of}`} onClick={act}>
        {name}
      </button>
    ))}
  </span>
);
