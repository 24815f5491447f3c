import { useState } from "preact/hooks";
import type { Overview, PublicationEntry } from "../../front/api/schema/answers.ts";
import { type Asked, MoveDialog } from "../parts/move-dialog.tsx";
import { number } from "../parts/numbers.ts";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Badge, Time, Version } from "../parts/texts.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

const everyMs = 3_000;

/** Where everybody is led, and what an operator can do about it. */
export function RolloutPage() {
  const overview = useAnswer("overview", {}, everyMs);
  const history = useAnswer("history", { limit: 50, changes: "true" }, everyMs);
  const [asked, setAsked] = useState<Asked>();
  const [done, setDone] = useState("");
  const close = (said: string) => {
    setAsked(undefined);
    setDone(said);
    overview.again();
    history.again();
  };
  return (
    <>
      <h1>Rollout</h1>
      <p role="status">{done}</p>
      <Shown of={overview}>
        {(value) => (
          <>
            <State value={value} onAsk={setAsked} />
            <h2>Roll back</h2>
            <p class="quiet">
              A rollback serves the configuration of an earlier version, in the same stages as any publish, and pins it:
              configuration that is published meanwhile is stored and not served until the pin ends. Services and
              endpoints are the newest, and are followed.
            </p>
            <Shown of={history}>{({ entries }) => <Earlier value={value} entries={entries} onAsk={setAsked} />}</Shown>
            {asked === undefined ? null : <MoveDialog asked={asked} generation={value.generation} onClose={close} />}
          </>
        )}
      </Shown>
    </>
  );
}

interface Acting {
  readonly value: Overview;
  readonly onAsk: (asked: Asked) => void;
}

function State({ value, onAsk }: Acting) {
  const { served, canary, pin, steps, moves, newest, generation } = value;
  return (
    <>
      {moves.isHere ? null : (
        <p class="card">
          {moves.reason}: <code>portolan rollback</code>, <code>unpin</code>, <code>canary</code>, <code>promote</code>{" "}
          and <code>abort</code>.
        </p>
      )}
      <div class="cards">
        <section class="card">
          <h2>Everybody</h2>
          <p class="figure">
            <Version root={served} isPlain />
          </p>
          <p class="quiet">Generation {number(generation)}</p>
          {steps.map(({ root, at }) => (
            <p key={root + at}>
              then <Version root={root} /> <Time at={at} />
            </p>
          ))}
        </section>
        <section class="card">
          <h2>Canary</h2>
          {canary === undefined ? (
            <p class="quiet">
              None runs. <code>portolan push FOLDER --canary 10</code> starts one.
            </p>
          ) : (
            <>
              <p class="figure">
                <Version root={canary.root} /> <Badge tone="note">{canary.percent} %</Badge>
              </p>
              <p class="quiet">
                {Object.entries(canary.labels)
                  .map(([key, label]) => `${key}=${label}`)
                  .join(", ")}
              </p>
              <div class="actions">
                <button
                  type="button"
                  class="main"
                  disabled={!moves.isHere}
                  onClick={() => onAsk({ move: "promote", root: canary.root })}
                >
                  Promote…
                </button>
                <button
                  type="button"
                  class="danger"
                  disabled={!moves.isHere}
                  onClick={() => onAsk({ move: "abort", root: canary.root })}
                >
                  Abort…
                </button>
                <a href={placeText(["diff"], { before: "SERVED", after: canary.root })}>Compare</a>
              </div>
            </>
          )}
        </section>
        <section class="card">
          <h2>Pin</h2>
          {pin === undefined ? (
            <p class="quiet">Nothing is pinned: every publish is served.</p>
          ) : (
            <>
              <p>
                By {pin.by || "somebody"} <Time at={pin.since} />: {pin.why}
              </p>
              <p class="quiet">
                {pin.configuration === undefined
                  ? "The whole version is pinned, including services and endpoints."
                  : "The configuration is pinned; services and endpoints stay current."}
              </p>
              {pin.until === undefined ? null : (
                <p class="quiet">
                  Until <Time at={pin.until} />
                </p>
              )}
              <div class="actions">
                <button type="button" disabled={!moves.isHere} onClick={() => onAsk({ move: "unpin", root: newest })}>
                  Unpin…
                </button>
                <a href={placeText(["diff"], { before: "SERVED", after: "NEWEST" })}>Compare with the newest</a>
              </div>
            </>
          )}
        </section>
      </div>
    </>
  );
}

/** Whether everybody is led to a configuration already. */
const isServed = ({ since, served }: Overview, configuration: string): boolean =>
  configuration === (since?.configuration ?? since?.root ?? served);

function Earlier({ value, entries, onAsk }: Acting & { readonly entries: readonly PublicationEntry[] }) {
  const served = new Map<string, PublicationEntry>();
  for (const entry of entries) {
    const configuration = entry.configuration ?? entry.root;
    if (
      entry.held === true ||
      entry.canary !== undefined ||
      isServed(value, configuration) ||
      served.has(configuration)
    )
      continue;
    served.set(configuration, entry);
  }
  return (
    <Table
      caption="Earlier versions"
      rows={[...served.values()]}
      keyOf={({ hash }) => hash}
      none="There is no earlier version."
      columns={[
        { title: "Version", cell: ({ root }) => <Version root={root} /> },
        { title: "Generation", isNumber: true, cell: ({ generation }) => number(generation) },
        { title: "Published", cell: ({ at }) => <Time at={at} /> },
        {
          title: "Author and reason",
          cell: ({ by, why }) => [by, why].filter((text) => text !== undefined).join(": "),
        },
        {
          title: "Back",
          cell: ({ root, generation }) =>
            value.moves.isHere ? (
              <button
                type="button"
                aria-label={`Roll back to generation ${generation}`}
                onClick={() => onAsk({ move: "rollback", root })}
              >
                Roll back…
              </button>
            ) : (
              <code>portolan rollback --to {generation}</code>
            ),
        },
      ]}
    />
  );
}
