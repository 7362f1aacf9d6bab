import { useEffect, useState } from "preact/hooks";
import { search, type SearchQuery } from "../api/search.ts";
import type { Found, FoundTask } from "../api/types.ts";
import { counted, exact, wordsOf } from "../format.ts";
import { StateBadge, stateNames, When } from "../parts/badges.tsx";
import { Failure, messageOf } from "../parts/dialog.tsx";
import { Heading } from "../parts/layout.tsx";
import { Select } from "../parts/select.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { linkTo, queueLink, taskLink } from "../router.ts";
import { useStore } from "../store.ts";
import { ErrorText, PayloadText } from "../tasks/columns.tsx";
import { isHidden } from "../tasks/value.tsx";
import { useTypedQuery } from "../typed-query.ts";

const FIELDS = ["text", "queues", "state"] as const;

/** Finds tasks in all queues, as the viewer types. */
export function SearchScreen({ query }: { readonly query: URLSearchParams }) {
  const { fields, set } = useTypedQuery(query, FIELDS, (given) => linkTo(["search"], given));
  const given = (name: string) => query.get(name) ?? undefined;
  const results = useSearch({ text: given("text") ?? "", queues: given("queues"), state: given("state") });
  return (
    <>
      <Heading title="Search" />
      <div class="filters" role="search" aria-label="Search tasks">
        <label class="wide">
          Id, or part of a payload, error or result
          <input
            type="search"
            value={fields.text}
            onInput={(event) => set("text", event.currentTarget.value)}
          />
        </label>
        <label>
          Queues
          <input
            type="search"
            value={fields.queues}
            placeholder="all, or emails-*"
            onInput={(event) => set("queues", event.currentTarget.value)}
          />
        </label>
        <Select
          label="State"
          value={fields.state}
          set={(value) => set("state", value)}
          options={{ "": "any", ...stateNames }}
        />
      </div>
      <Results {...results} />
    </>
  );
}

interface Search {
  readonly found: Found | undefined;
  readonly busy: boolean;
  readonly error: string | undefined;
  /** Looks at the tasks that were not looked at yet. */
  readonly goOn: () => void;
}

/** Searches anew if the query changes; pages are added to the first. */
function useSearch(query: SearchQuery): Search {
  const key = JSON.stringify(query);
  const [state, setState] = useState<Omit<Search, "goOn">>({
    found: undefined,
    busy: false,
    error: undefined,
  });
  const [from, setFrom] = useState<{ readonly key: string; readonly before: Found } | undefined>();
  const before = from?.key === key ? from.before : undefined;
  useEffect(() => {
    if (query.text === "") {
      setState({ found: undefined, busy: false, error: undefined });
      return undefined;
    }
    const ended = new AbortController();
    setState({ found: before, busy: true, error: undefined });
    search({ ...query, cursor: before?.cursor ?? undefined }, ended.signal).then(
      (page) => setState({ found: sumOf(before, page), busy: false, error: undefined }),
      (failure: unknown) => {
        if (!ended.signal.aborted) setState({ found: before, busy: false, error: messageOf(failure) });
      },
    );
    return () => ended.abort();
  }, [key, before]);
  const goOn = () => state.found && setFrom({ key, before: state.found });
  return { ...state, goOn };
}

function sumOf(before: Found | undefined, page: Found): Found {
  if (before === undefined) return page;
  const looked = {
    tasks: before.looked.tasks + page.looked.tasks,
    queues: before.looked.queues + page.looked.queues,
  };
  return {
    ...page,
    tasks: [...before.tasks, ...page.tasks],
    looked,
    unsearched: before.unsearched + page.unsearched,
    failed: [...before.failed, ...page.failed],
  };
}

function Results({ found, busy, error, goOn }: Search) {
  const hidden = useStore(isHidden);
  if (!found && !busy && error === undefined)
    return <p class="empty">Type an id, or part of a payload, error or result.</p>;
  return (
    <>
      <p role="status" class="faint">
        {busy && "Searching… "}
        {found &&
          `${counted(found.tasks.length, "task")} found, ${exact(found.looked.tasks)} looked at${found.cursor === null ? "." : " so far."}`}
        {found && found.unsearched > 0 && ` ${counted(found.unsearched, "payload")} could not be searched.`}
      </p>
      {found && found.failed.length > 0 && (
        <p class="failure">
          Not searched: {found.failed.map(({ queue, code }) => `${queue} (${wordsOf(code)})`).join(", ")}.
        </p>
      )}
      <Failure error={error} />
      {found && (
        <Table
          label="Found tasks"
          rows={found.tasks}
          keyOf={({ queue, id }) => `${queue}/${id}`}
          empty={found.cursor === null ? "No task has this text." : "No task was found so far."}
          columns={columnsOf(hidden)}
        />
      )}
      {found && found.cursor !== null && (
        <p>
          <button type="button" onClick={goOn} disabled={busy}>
            Search on
          </button>
        </p>
      )}
    </>
  );
}

const columnsOf = (hidden: boolean): Column<FoundTask>[] => [
  {
    title: "Task",
    of: ({ queue, id }) => (
      <a class="name id" href={taskLink(queue, id)}>
        {id}
      </a>
    ),
  },
  { title: "Queue", of: ({ queue }) => <a href={queueLink(queue)}>{queue}</a> },
  { title: "State", of: ({ state, reason }) => <StateBadge state={state} reason={reason} /> },
  { title: "Found in", of: ({ found }) => found },
  { title: "Enqueued", of: ({ enqueuedAt }) => <When at={enqueuedAt} /> },
  { title: "Payload", fills: true, of: (task) => <PayloadText task={task} hidden={hidden} /> },
  { title: "Last error", fills: true, of: (task) => <ErrorText task={task} /> },
];
