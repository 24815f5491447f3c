import type { PageProps } from "../page-props.ts";
import { bytesText, counted, number } from "../parts/numbers.ts";
import { Pager } from "../parts/pager.tsx";
import { Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

/** One class: what it has, its secrets and its nodes. */
export function ClassPage({ place }: PageProps) {
  const [, id = ""] = place.path;
  const { q = "", offset = "0", root } = place.query;
  const answer = useAnswer("oneClass", { id, q, offset, root });
  return (
    <>
      <p class="crumb">
        <a href="#/classes">Classes</a>
      </p>
      <h1 class="mono">{id}</h1>
      <Shown of={answer}>
        {({ trees, secrets, page, nodes, defaultOf }) => (
          <>
            <h2>Resources of its proxies</h2>
            <Table
              caption="Resources"
              rows={trees}
              keyOf={({ shape, type }) => `${shape} ${type}`}
              columns={[
                {
                  title: "Type",
                  cell: ({ type, shape }) => (
                    <a href={placeText(["resources"], { class: id, type, shape, root })}>{type}</a>
                  ),
                },
                {
                  title: "Transport",
                  cell: ({ shape }) => (shape === "poll" ? "polls (REST)" : "streams (gRPC), agents"),
                },
                { title: "Resources", isNumber: true, cell: ({ resources }) => number(resources) },
                { title: "Size", isNumber: true, cell: ({ bytes }) => bytesText(bytes) },
                { title: "Version", cell: ({ version }) => <code title={version}>{version.slice(0, 12)}</code> },
              ]}
            />
            {secrets.length === 0 ? null : (
              <>
                <h2>Secrets that it references</h2>
                <ul class="plain">
                  {secrets.map((name) => (
                    <li key={name}>
                      <code>{name}</code>
                    </li>
                  ))}
                </ul>
              </>
            )}
            <h2>{counted(nodes, "node")}</h2>
            {defaultOf.length === 0 ? null : (
              <p class="quiet">And any other {defaultOf.map((key) => key.replace("/", " of ")).join(", ")}.</p>
            )}
            {nodes === 0 ? null : (
              <Search label="Node" value={q} onSearch={(text) => changeQuery(place, { q: text, offset: "" })} />
            )}
            <ul class="plain columns">
              {page.map((name) => (
                <li key={name}>
                  <a href={placeText(["nodes"], { q: name })}>{name}</a>
                </li>
              ))}
            </ul>
            {q === "" ? (
              <Pager
                offset={Number(offset)}
                shown={page.length}
                total={nodes}
                onMove={(to) => changeQuery(place, { offset: String(to) })}
              />
            ) : null}
          </>
        )}
      </Shown>
    </>
  );
}
