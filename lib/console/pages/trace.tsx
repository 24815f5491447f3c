import { useEffect, useState } from "preact/hooks";
import type { Traced } from "../../front/api/schema/trace.ts";
import type { Reply } from "../ask.ts";
import type { Followed as FollowedRequest, FollowModule } from "../follow.ts";
import type { PageProps } from "../page-props.ts";
import { Shown } from "../parts/shown.tsx";
import { Badge } from "../parts/texts.tsx";
import { TracePath } from "../parts/trace-path.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

/** A request through a proxy: the picture, then each decision with its reason. */
export function TracePage({ place }: PageProps) {
  const { node = "", url = "", method = "GET", headers = "", direction = "", root } = place.query;
  const { from = "", principal = "", claims = "" } = place.query;
  const overview = useAnswer("overview");
  return (
    <>
      <h1>Request trace</h1>
      <form
        class="asked"
        onSubmit={(event) => {
          event.preventDefault();
          const said = new FormData(event.currentTarget);
          const text = (name: string) => String(said.get(name) ?? "").trim();
          location.hash = placeText(["trace"], {
            node: text("node"),
            url: text("url"),
            method: text("method"),
            headers: text("headers"),
            direction: text("direction"),
            from: text("from"),
            principal: text("principal"),
            claims: text("claims"),
            root,
          });
        }}
      >
        <label>
          <span>Node, pod.namespace, or a class</span>
          <input type="text" name="node" size={34} required data-search defaultValue={node} />
        </label>
        <label class="wide">
          <span>URL</span>
          <input type="text" name="url" required placeholder="http://reviews:9080/reviews/7" defaultValue={url} />
        </label>
        <label>
          <span>Method</span>
          <input type="text" name="method" size={7} defaultValue={method} />
        </label>
        <label>
          <span>Headers, name: value</span>
          <textarea name="headers" rows={1} defaultValue={headers} />
        </label>
        <label>
          <span>Direction</span>
          <select name="direction" defaultValue={direction}>
            <option value="">auto</option>
            <option value="outbound">outbound</option>
            <option value="inbound">inbound</option>
          </select>
        </label>
        <label>
          <span>Client's address</span>
          <input type="text" name="from" size={15} placeholder="203.0.113.9" defaultValue={from} />
        </label>
        <label>
          <span>Client's identity</span>
          <input
            type="text"
            name="principal"
            size={30}
            placeholder="cluster.local/ns/shop/sa/web"
            defaultValue={principal}
          />
        </label>
        <label>
          <span>Claims of its token, JSON</span>
          <input type="text" name="claims" placeholder={'{"iss":"https://issuer"}'} defaultValue={claims} />
        </label>
        <button type="submit" class="main">
          Trace request
        </button>
      </form>
      {overview.reply === undefined ? null : overview.reply.kind === "answer" && !overview.reply.value.isTracing ? (
        <InBrowser place={place} />
      ) : node === "" || url === "" ? (
        <p class="quiet">
          Which listener, filter chain, route, cluster and endpoints a request takes, and which objects decided it.
        </p>
      ) : (
        <Way place={place} />
      )}
    </>
  );
}

/** A front at the edge follows no requests: the page does, with what it is served. */
function InBrowser({ place }: PageProps) {
  const { node = "", url = "", method = "GET", headers, direction, root, from, principal, claims } = place.query;
  const [reply, setReply] = useState<Reply<Traced>>();
  const question = JSON.stringify({ node, url, method, headers, direction, root, from, principal, claims });
  useEffect(() => {
    const leaving = new AbortController();
    setReply(undefined);
    if (node !== "" && url !== "")
      followHere(JSON.parse(question), leaving.signal).then(setReply, (cause: unknown) => {
        if (!leaving.signal.aborted) setReply({ kind: "problem", status: 0, detail: failed(cause) });
      });
    return () => leaving.abort();
  }, [node, url, question]);
  return (
    <>
      {node === "" || url === "" ? null : (
        <Shown of={{ reply, isLoading: reply === undefined, again: () => {} }}>
          {(traced) => <Followed traced={traced} />}
        </Shown>
      )}
      <Elsewhere place={place} />
    </>
  );
}

/** Of a page that was opened before its front was made anew, say: what it loads is not there any more. */
const failed = (cause: unknown): string =>
  `the browser could not trace the request (${cause instanceof Error ? cause.message : String(cause)}): reload the page`;

/** Loads what follows requests when somebody first asks: it weighs more than the rest of the console. */
async function followHere(asked: FollowedRequest, signal: AbortSignal): Promise<Reply<Traced>> {
  const file = document.querySelector<HTMLMetaElement>("meta[name=follow]")?.content ?? "";
  const { follow }: FollowModule = await import(new URL(file, document.baseURI).href);
  return follow(asked, signal);
}

/** The same in a terminal, with the file and line of each object. */
function Elsewhere({ place }: PageProps) {
  const { node = "", url = "", method = "GET", from, principal, claims } = place.query;
  const command = [
    "portolan trace",
    quoted(node || "NODE"),
    quoted(url || "URL"),
    ...(method === "GET" ? [] : ["--method", quoted(method)]),
    ...(from ? ["--from", quoted(from)] : []),
    ...(principal ? ["--principal", quoted(principal)] : []),
    ...(claims ? ["--claims", quoted(claims)] : []),
    "--server",
    quoted(location.origin),
  ];
  return (
    <section class="card">
      <p>
        This front runs at the edge and does not trace requests itself. This page traces the request in the browser,
        from the node's configuration. The command line does the same:
      </p>
      <pre class="command">{command.join(" ")}</pre>
    </section>
  );
}

/** For a shell, where it is needed. */
const quoted = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function Way({ place }: PageProps) {
  const { node, url, method, headers, direction, root, from, principal, claims } = place.query;
  const answer = useAnswer("trace", { node, url, method, headers, direction, root, from, principal, claims });
  return <Shown of={answer}>{(traced) => <Followed traced={traced} />}</Shown>;
}

function Followed({ traced }: { readonly traced: Traced }) {
  return (
    <>
      <p class="quiet">
        {traced.direction} through{" "}
        <a href={placeText(["class", traced.class], { root: traced.root })}>{traced.class}</a>
      </p>
      <TracePath traced={traced} />
      <h2>Why</h2>
      <ol class="way">
        <Decisions traced={traced} of={traced.decisions} />
      </ol>
      {traced.httpFilters.length === 0 ? null : (
        <p class="quiet">
          HTTP filters: {traced.httpFilters.map((name) => name.replace(/^envoy\.filters\.http\./, "")).join(", ")}
        </p>
      )}
      <div class="ways">
        {traced.ways.map((way, i) => (
          <section class="card" key={`${i} ${way.end}`}>
            <p>
              <Badge tone={way.dependsOn.length === 0 ? "note" : "warn"}>
                {way.dependsOn.length === 0 ? "" : "at most "}
                {way.sharePercent} %
              </Badge>{" "}
              {way.end}
            </p>
            {way.dependsOn.length === 0 ? null : <p>depends on {way.dependsOn.join("; ")}</p>}
            <ol class="way">
              <Decisions traced={traced} of={way.decisions} />
            </ol>
            <ul class="plain columns">
              {way.endpoints.map(({ address, sharePercent }) => (
                <li key={address}>
                  <code>{address}</code>{" "}
                  {sharePercent === undefined
                    ? ""
                    : `${sharePercent} %${way.dependsOn.length === 0 ? "" : " of the requests that reach it"}`}
                </li>
              ))}
            </ul>
            {way.moreEndpoints > 0 ? <p class="quiet">and {way.moreEndpoints} more</p> : null}
          </section>
        ))}
      </div>
    </>
  );
}

/** By file and line where the front reads its sources, else the objects behind the resource. */
function Causes({ causes, from }: Pick<Traced["decisions"][number], "causes" | "from">) {
  if (causes.length === 0) return from.length === 0 ? null : <div class="quiet">from {from.join(", ")}</div>;
  return (
    <ul class="plain causes">
      {causes.map(({ object, at }) => (
        <li key={`${object} ${at}`} class="quiet">
          {at === undefined ? null : <code class="at">{at}</code>} {object}
        </li>
      ))}
    </ul>
  );
}

const verdictTexts = { answers: "ends it", part: "ends a part", depends: "depends" } as const;

function Decisions({ traced, of }: { readonly traced: Traced; readonly of: Traced["decisions"] }) {
  return (
    <>
      {of.map(({ step, chosen, verdict, why, place, from, causes, passedOver, morePassedOver }, i) => (
        <li key={`${i} ${step} ${chosen ?? ""}`}>
          {step}{" "}
          {place === undefined ? (
            <code>{chosen ?? "none"}</code>
          ) : (
            <a
              class="mono"
              href={placeText(["resource"], {
                root: traced.root,
                class: traced.class,
                shape: "stream",
                type: place.type,
                name: place.name,
              })}
            >
              {chosen}
            </a>
          )}
          {verdict === undefined || verdict === "passes" ? null : (
            <>
              {" "}
              <Badge tone={verdict === "answers" ? "bad" : "warn"}>{verdictTexts[verdict]}</Badge>
            </>
          )}
          : {why}
          <Causes causes={causes} from={from} />
          {passedOver.length === 0 ? null : (
            <details>
              <summary class="quiet">passed over: {passedOver.length + morePassedOver}</summary>
              <ul class="plain">
                {passedOver.map(({ name, why: reason }) => (
                  <li key={`${name} ${reason}`}>
                    <code>{name}</code> {reason}
                  </li>
                ))}
              </ul>
            </details>
          )}
        </li>
      ))}
    </>
  );
}
