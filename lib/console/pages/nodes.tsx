import type { Nodes, Trouble } from "../../front/api/schema/nodes.ts";
import type { PageProps } from "../page-props.ts";
import { counted } from "../parts/numbers.ts";
import { Pager } from "../parts/pager.tsx";
import { Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Badge, Time } from "../parts/texts.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

const everyMs = 5_000;

/** What nodes have, what they refuse and why, and who has no class. */
export function NodesPage({ place }: PageProps) {
  const { q = "", offset = "0" } = place.query;
  const nodes = useAnswer("nodes", { q, offset }, everyMs);
  const trouble = useAnswer("trouble", {}, everyMs);
  const told = nodes.reply?.kind === "answer" ? nodes.reply.value : undefined;
  // A search that finds none, and a front that keeps nothing, do not say that there is none.
  const isAnybody = told !== undefined && (q !== "" || !told.isKept || told.total > 0);
  // What a search leaves out, and what is on another page, may be in trouble.
  const isWell = told === undefined || told.nodes.every(({ state }) => state === "synced");
  return (
    <>
      <h1>Nodes</h1>
      <Shown of={trouble}>{(value) => <InTrouble value={value} isAnybody={isAnybody && isWell} />}</Shown>
      <Shown of={nodes}>
        {({ isKept, total, nodes: list, unread = 0 }) =>
          isKept ? (
            <>
              <h2>What nodes have</h2>
              <div class="asked">
                <Search label="Node" value={q} onSearch={(text) => changeQuery(place, { q: text, offset: "" })} />
              </div>
              <NodeTable nodes={list} isSearch={q !== ""} />
              {unread > 0 ? (
                <p class="quiet">
                  Not read: {counted(unread, "record")} of other fronts. Nodes that only these records name are missing.
                </p>
              ) : null}
              <Pager
                offset={Number(offset)}
                shown={list.length}
                total={total}
                onMove={(to) => changeQuery(place, { offset: String(to) })}
              />
            </>
          ) : (
            <p class="quiet">This front keeps no node status: fronts on Workers and Lambda do not, servers do.</p>
          )
        }
      </Shown>
    </>
  );
}

const tones = { synced: "good", taken: "good", stale: "warn", refused: "bad", gone: "bad" } as const;
const ways = { poll: "polls", stream: "a stream", delta: "a delta stream" } as const;

function NodeTable({ nodes, isSearch }: { readonly nodes: Nodes["nodes"]; readonly isSearch: boolean }) {
  return (
    <Table
      caption="Nodes"
      rows={nodes}
      keyOf={({ node, cluster = "" }) => `${node} ${cluster}`}
      none={isSearch ? "No connected node has this name." : "No node has connected to this front yet."}
      columns={[
        {
          title: "Node",
          cell: ({ node, name, class: id }) => (
            <>
              <span title={node}>{name}</span>
              {id === undefined ? null : (
                <div>
                  <a class="mono" href={placeText(["class", id])}>
                    {id.slice(0, 20)}…
                  </a>
                </div>
              )}
            </>
          ),
        },
        {
          title: "Has",
          cell: ({ resources, more }) => (
            <ul class="plain">
              {resources.map(({ type, name, state, accepted, since, refused }) => (
                <li key={`${type} ${name ?? ""}`}>
                  <Badge tone={tones[state]}>{state}</Badge>{" "}
                  {refused === undefined ? null : <Badge tone="bad">refuses {refused.version.slice(0, 8)}</Badge>}
                  {type} {name === undefined ? "" : <code>{name}</code>}{" "}
                  {accepted === "" ? "nothing" : <code title={accepted}>{accepted.slice(0, 12)}</code>}{" "}
                  <span class="quiet">
                    since <Time at={since} />
                  </span>
                </li>
              ))}
              {more > 0 ? <li class="quiet">and {more} more</li> : null}
            </ul>
          ),
        },
        {
          title: "Seen",
          cell: ({ presence, lastSeen }) =>
            presence === "connected" ? (
              <Badge tone="good">connected</Badge>
            ) : (
              <>
                <Badge tone="bad">{presence}</Badge> <Time at={lastSeen} />
              </>
            ),
        },
        { title: "Transport", cell: ({ resources: [first] }) => (first === undefined ? "" : ways[first.transport]) },
      ]}
    />
  );
}

/** Refusals and nodes without a class. */
function InTrouble({
  value: { refusals, strangers, moreRefusals, moreStrangers },
  isAnybody,
}: {
  readonly value: Trouble;
  /** Whether any node may have asked: of nobody it is not said that all is well. */
  readonly isAnybody: boolean;
}) {
  if (refusals.length + strangers.length === 0)
    return isAnybody ? (
      <p>
        <Badge tone="good">healthy</Badge> All connected nodes match a class and accept their configuration.
      </p>
    ) : null;
  return (
    <ul class="said">
      {refusals.map((one) => (
        <li key={`${one.nodeId} ${one.clusterId ?? ""} ${one.type} ${one.name}`} class="card">
          <Refusal one={one} />
        </li>
      ))}
      {strangers.map(({ nodeId, clusterId = "", kind, reason, remedy, since }) => (
        <li key={`${nodeId} ${clusterId}`} class="card">
          <p>
            <Badge tone={kind === "unknown" ? "bad" : "warn"}>
              {kind === "unknown" ? "gets nothing" : "gets the default"}
            </Badge>{" "}
            <code>{nodeId}</code>{" "}
            <span class="quiet">
              since <Time at={since} />
            </span>
          </p>
          <p>{reason}</p>
          <p>→ {remedy}</p>
        </li>
      ))}
      {moreRefusals + moreStrangers > 0 ? <li class="quiet">and {moreRefusals + moreStrangers} more</li> : null}
    </ul>
  );
}

function Refusal({ one }: { readonly one: Trouble["refusals"][number] }) {
  const { nodeId, type, name, refused, kept, since, error, suspects, moreSuspects, isGone } = one;
  return (
    <>
      <p>
        <Badge tone="bad">refuses</Badge> <code>{nodeId}</code> does not take {type}{" "}
        {name === "" ? "" : <code>{name}</code>} of version <code title={refused}>{refused.slice(0, 12)}</code>,{" "}
        {kept === undefined ? (
          "and has none"
        ) : (
          <>
            and keeps <code title={kept}>{kept.slice(0, 12)}</code>
          </>
        )}{" "}
        <span class="quiet">
          since <Time at={since} />
        </span>
      </p>
      {error === undefined ? (
        <p class="quiet">Polling Envoys do not report why they refuse. See the proxy's own log.</p>
      ) : (
        <blockquote>{error}</blockquote>
      )}
      {isGone ? <p class="quiet">The rejected version is no longer in the store.</p> : null}
      {suspects.length === 0 ? null : (
        <>
          <p class="quiet">It may be about {counted(suspects.length + moreSuspects, "resource")}:</p>
          <ul class="plain">
            {suspects.map(({ name: suspect, from, at }) => (
              <li key={suspect}>
                <code>{suspect}</code>{" "}
                <span class="quiet">
                  from {from.join(", ")} {at.length === 0 ? "" : `(${at.join(", ")})`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
