import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Flow } from "../api/types.ts";
import { taskLink } from "../router.ts";
import { Mark, nodeText, shownState } from "./marks.tsx";
import { HEIGHT, linesOf, type Picture, pictureOf, structureOf, WIDTH } from "./picture.ts";

type Node = Flow["nodes"][number];

/** Steps of the zoom. */
const ZOOM = 1.25;
const LEAST = 0.1;
const MOST = 2;

/** Most characters of a text in a node. */
const LENGTH = 19;

const cut = (text: string) => (text.length > LENGTH ? `${text.slice(0, LENGTH - 1)}…` : text);

interface GraphProps {
  readonly flow: Flow;
  /** The ref of the node that is described. */
  readonly active: string;
  readonly setActive: (ref: string) => void;
}

/** The graph of a flow. Arrow keys lead from node to node, Enter opens a task. */
export function Graph({ flow, active, setActive }: GraphProps) {
  const picture = usePicture(flow.nodes);
  const frame = useRef<HTMLDivElement>(null);
  // The same as long as it shows the same, so that a key press does not compare a thousand nodes.
  const nodes = useMemo(() => picture && <Nodes nodes={flow.nodes} picture={picture} />, [flow, picture]);
  useEffect(() => {
    // Tab leads to one of the nodes, and the arrow keys from it to the others.
    const element = elementOf(frame.current, active) ?? frame.current?.querySelector("[data-ref]");
    element?.setAttribute("tabindex", "0");
    return () => element?.setAttribute("tabindex", "-1");
  }, [active, nodes]);
  const [zoom, setZoom] = useState(1);
  const scale = (factor: number) => setZoom((before) => Math.min(MOST, Math.max(LEAST, before * factor)));
  if (!picture) {
    return (
      <p class="empty" role="status">
        Drawing the graph…
      </p>
    );
  }
  const fit = () => {
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {};
    const most = Math.min(clientWidth / picture.width, clientHeight / picture.height);
    setZoom(Math.min(1, Math.max(LEAST, most)));
  };
  const press = (event: KeyboardEvent) => {
    const next = picture.next(active, event.key);
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const [x, y] = picture.places.get(next) ?? [0, 0];
    frame.current?.scrollTo(
      x * zoom - frame.current.clientWidth / 2,
      y * zoom - frame.current.clientHeight / 2,
    );
    elementOf(frame.current, next)?.focus({ preventScroll: true });
  };
  return (
    <>
      <div class="pages" role="group" aria-label="Size of the graph">
        <button type="button" onClick={() => scale(ZOOM)}>
          Zoom in
        </button>
        <button type="button" onClick={() => scale(1 / ZOOM)}>
          Zoom out
        </button>
        <button type="button" onClick={fit}>
          Show all
        </button>
      </div>
      <div
        ref={frame}
        class="graph"
        onPointerDown={drag}
        onKeyDown={press}
        // Not on the svg: with such a listener, Chromium gives it the focus too.
        onFocusIn={({ target }: FocusEvent) => {
          const ref = (target as Element).getAttribute("data-ref");
          if (ref !== null) setActive(ref);
        }}
      >
        <svg
          width={picture.width * zoom}
          height={picture.height * zoom}
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          role="group"
          aria-label="Graph of the flow. Arrow keys lead from task to task, Enter opens one."
        >
          {nodes}
        </svg>
      </div>
    </>
  );
}

const elementOf = (frame: Element | null, ref: string) =>
  frame?.querySelector<SVGElement>(`[data-ref="${CSS.escape(ref)}"]`);

/** The picture of these nodes; undefined until the first one is ready. It changes only if the graph does. */
function usePicture(nodes: Flow["nodes"]): Picture | undefined {
  const [picture, setPicture] = useState<Picture | undefined>();
  const structure = structureOf(nodes);
  useEffect(() => {
    const ended = new AbortController();
    pictureOf(nodes, ended.signal).then(setPicture, (error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
    return () => ended.abort();
  }, [structure]);
  return picture;
}

interface NodesProps {
  readonly nodes: Flow["nodes"];
  readonly picture: Picture;
}

function Nodes({ nodes, picture }: NodesProps) {
  const states = new Map(nodes.map(({ ref, state }) => [ref, state]));
  return (
    <>
      {linesOf(picture, (ref) => states.get(ref) ?? null).map(({ tone, isAnyEnd, path }) => (
        <path key={`${tone} ${isAnyEnd}`} class={`edge edge-${tone} ${isAnyEnd ? "any-end" : ""}`} d={path} />
      ))}
      {picture.gates.map(([x, y]) => (
        <circle key={`${x} ${y}`} class="gate" cx={x} cy={y} r="4" />
      ))}
      {nodes.map((node) => {
        const place = picture.places.get(node.ref);
        return place && <Box key={node.ref} node={node} place={place} />;
      })}
    </>
  );
}

interface BoxProps {
  readonly node: Node;
  readonly place: readonly [number, number];
}

function Box({ node, place: [x, y] }: BoxProps) {
  const { ref, kind, queue, id } = node;
  const state = shownState(node);
  const common = {
    class: `node state-${state}`,
    transform: `translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`,
    tabindex: -1,
    "data-ref": ref,
  };
  const box = { width: WIDTH, height: HEIGHT, rx: 7 };
  const shape = (
    <>
      <title>{nodeText(node)}</title>
      {kind === "flow" && <rect class="box" x="5" y="5" {...box} />}
      <rect class="box" {...box} />
      <Mark state={state} transform={`translate(18 ${HEIGHT / 2})`} />
      <text x="34" y="18">
        {cut(ref)}
      </text>
      <text class="under" x="34" y="33">
        {cut(kind === "flow" ? "flow" : (queue ?? ""))}
      </text>
    </>
  );
  return queue !== undefined && id !== undefined ? (
    <a href={taskLink(queue, id)} {...common}>
      {shape}
    </a>
  ) : (
    <g role="img" {...common}>
      {shape}
    </g>
  );
}

/** Moves what is seen of the graph with the mouse. A finger scrolls by itself. */
function drag(event: PointerEvent): void {
  const frame = event.currentTarget as HTMLElement;
  if (event.pointerType !== "mouse" || event.button !== 0 || (event.target as Element).closest("a")) return;
  const move = ({ movementX, movementY }: PointerEvent) => frame.scrollBy(-movementX, -movementY);
  frame.setPointerCapture(event.pointerId);
  frame.addEventListener("pointermove", move);
  frame.addEventListener("lostpointercapture", () => frame.removeEventListener("pointermove", move), {
    once: true,
  });
}
