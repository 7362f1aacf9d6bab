import { type ComponentChildren, render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { access, isOfApplication } from "./access.ts";
import { session } from "./api/queues.ts";
import { signedIn } from "./api/request.ts";
import { HealthScreen } from "./health/health.tsx";
import { CostsScreen, EndpointsScreen, FlowScreen, SearchScreen } from "./more.tsx";
import { Layout, Waiting } from "./parts/layout.tsx";
import { QueueScreen } from "./queues/queue.tsx";
import { QueuesScreen } from "./queues/queues.tsx";
import { reloadUnlessRecent } from "./reload.ts";
import { place, queueLink } from "./router.ts";
import { NotLetIn, SignIn } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { TaskScreen } from "./tasks/task.tsx";

function App() {
  const known = useStore(signedIn);
  const [ready, setReady] = useState(false);
  const [error, setError] = useState<string | undefined>();
  const enter = useCallback(() => {
    setError(undefined);
    session().then(
      ({ grants, login }) => {
        access.set(grants ?? []);
        isOfApplication.set(login === "application");
        signedIn.set(grants !== null);
        setReady(grants !== null);
      },
      (failure: unknown) => setError(failure instanceof Error ? failure.message : String(failure)),
    );
  }, []);
  useEffect(enter, [enter]);
  useEffect(() => {
    if (ready && !known && isOfApplication.value) reloadUnlessRecent();
  }, [ready, known]);
  if (!known && error === undefined) return isOfApplication.value ? <NotLetIn /> : <SignIn onDone={enter} />;
  if (!ready) return <Waiting error={error} retry={enter} />;
  const leave = () => {
    setReady(false);
    signedIn.set(false);
  };
  return <Screen onSignedOut={leave} />;
}

function Screen({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const { parts, query } = useStore(place);
  const { trail, screen } = screenOf(parts, query);
  return (
    <Layout trail={trail} onSignedOut={onSignedOut}>
      {screen}
    </Layout>
  );
}

interface Shown {
  /** Where the viewer is, below all queues. */
  readonly trail: readonly { readonly text: string; readonly link?: string }[];
  readonly screen: ComponentChildren;
}

function screenOf([area, queue, tab, id]: readonly string[], query: URLSearchParams): Shown {
  if (area === "queues" && queue !== undefined && tab === "tasks" && id !== undefined) {
    return {
      trail: [{ text: queue, link: queueLink(queue) }, { text: id }],
      screen: <TaskScreen key={`${queue}/${id}`} queue={queue} id={id} />,
    };
  }
  if (area === "queues" && queue !== undefined) {
    return {
      trail: [{ text: queue }],
      screen: <QueueScreen key={queue} queue={queue} tab={tab ?? "pending"} query={query} />,
    };
  }
  if (area === "flows" && queue !== undefined) {
    return { trail: [{ text: queue }], screen: <FlowScreen key={queue} id={queue} query={query} /> };
  }
  if (area === "costs") return { trail: [{ text: "Costs" }], screen: <CostsScreen /> };
  if (area === "endpoints") return { trail: [{ text: "Endpoints" }], screen: <EndpointsScreen /> };
  if (area === "health") return { trail: [{ text: "Health" }], screen: <HealthScreen /> };
  if (area === "search") return { trail: [{ text: "Search" }], screen: <SearchScreen query={query} /> };
  return { trail: [], screen: <QueuesScreen query={query} /> };
}

const root = document.querySelector("#app");
if (root) render(<App />, root);
