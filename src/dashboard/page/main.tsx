import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { access } from "./access.ts";
import { grants } from "./api/queues.ts";
import { signedIn } from "./api/request.ts";
import { CostsScreen } from "./queues/costs.tsx";
import { Layout, Waiting } from "./parts/layout.tsx";
import { QueueScreen } from "./queues/queue.tsx";
import { QueuesScreen } from "./queues/queues.tsx";
import { linkTo, place, queueLink } from "./router.ts";
import { SignIn } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { TaskScreen } from "./tasks/task.tsx";

function App() {
  const known = useStore(signedIn);
  const [ready, setReady] = useState(false);
  const [error, setError] = useState<string | undefined>();
  const enter = useCallback(() => {
    setError(undefined);
    grants().then(
      (found) => {
        access.set(found ?? []);
        signedIn.set(found !== null);
        setReady(found !== null);
      },
      (failure: unknown) => setError(failure instanceof Error ? failure.message : String(failure)),
    );
  }, []);
  useEffect(enter, [enter]);
  if (!known && error === undefined) return <SignIn onDone={enter} />;
  if (!ready) return <Waiting error={error} retry={enter} />;
  const leave = () => {
    setReady(false);
    signedIn.set(false);
  };
  return <Screen onSignedOut={leave} />;
}

function Screen({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const { parts, query } = useStore(place);
  const [area, queue, tab, id] = parts;
  if (area === "queues" && queue !== undefined && tab === "tasks" && id !== undefined) {
    const trail = [{ text: queue, link: queueLink(queue) }, { text: id }];
    return (
      <Layout trail={trail} onSignedOut={onSignedOut}>
        <TaskScreen key={`${queue}/${id}`} queue={queue} id={id} />
      </Layout>
    );
  }
  if (area === "queues" && queue !== undefined) {
    return (
      <Layout trail={[{ text: queue }]} onSignedOut={onSignedOut}>
        <QueueScreen key={queue} queue={queue} tab={tab ?? "pending"} query={query} />
      </Layout>
    );
  }
  if (area === "costs") {
    return (
      <Layout trail={[{ text: "Costs", link: linkTo(["costs"]) }]} onSignedOut={onSignedOut}>
        <CostsScreen />
      </Layout>
    );
  }
  return (
    <Layout trail={[]} onSignedOut={onSignedOut}>
      <QueuesScreen query={query} />
    </Layout>
  );
}

const root = document.querySelector("#app");
if (root) render(<App />, root);
