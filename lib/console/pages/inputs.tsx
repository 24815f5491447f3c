import type { Lookups } from "../../front/api/schema/lookups.ts";
import type { PageProps } from "../page-props.ts";
import { Pager } from "../parts/pager.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { Badge, Time } from "../parts/texts.tsx";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

const everyMs = 10_000;

const tones = { fresh: "good", stale: "warn", missing: "bad" } as const;
const stale = "The last fetch failed. The previously fetched content is used.";
const meanings = {
  jwks: { fresh: "", stale, missing: "Never fetched: every token of its rules is refused." },
  host: { fresh: "", stale, missing: "No address is known: the gateway is left out of endpoints." },
  module: {
    fresh: "",
    stale,
    missing: "Never fetched: its filters deny all requests or, with FAIL_OPEN, allow them.",
  },
} as const;

/** What was looked up in a network for this mesh, what fails first. */
export function InputsPage({ place }: PageProps) {
  const { offset = "0" } = place.query;
  const answer = useAnswer("lookups", { offset }, everyMs);
  return (
    <>
      <h1>Resolved inputs</h1>
      <Shown of={answer}>
        {({ isRead, total, lookups }) =>
          isRead ? (
            <>
              <LookupTable lookups={lookups} />
              <Pager
                offset={Number(offset)}
                shown={lookups.length}
                total={total}
                onMove={(to) => changeQuery(place, { offset: String(to) })}
              />
            </>
          ) : (
            <p class="quiet">This front does not read fetched inputs. Run `portolan resolve` to see them.</p>
          )
        }
      </Shown>
    </>
  );
}

const found = ({ keys, addresses = [], sha256 = "" }: Lookups["lookups"][number]) =>
  keys === undefined ? [...addresses, sha256.slice(0, 12)].filter((text) => text !== "").join(", ") : `${keys} keys`;

function LookupTable({ lookups }: Pick<Lookups, "lookups">) {
  return (
    <Table
      caption="Key sets of token issuers, addresses of network gateways, and modules of Wasm"
      rows={lookups}
      keyOf={({ kind, of }) => `${kind} ${of}`}
      none="Nothing is looked up: no RequestAuthentication names keys outside the mesh, no network gateway a host, and no extension a module."
      columns={[
        { title: "What", cell: ({ of }) => <code>{of}</code> },
        { title: "State", cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
        { title: "Found", cell: found },
        {
          title: "Read",
          cell: ({ fetchedAt }) => (fetchedAt === undefined ? "never" : <Time at={fetchedAt} isPast />),
        },
        {
          title: "Why",
          cell: ({ kind, state, problem = "" }) =>
            [meanings[kind][state], problem].filter((text) => text !== "").join(" "),
        },
      ]}
    />
  );
}
