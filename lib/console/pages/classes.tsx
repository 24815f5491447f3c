import type { Classes } from "../../front/api/schema/answers.ts";
import type { PageProps } from "../page-props.ts";
import { number } from "../parts/numbers.ts";
import { Pager } from "../parts/pager.tsx";
import { Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

/** Classes of proxies, and who is of them. */
export function ClassesPage({ place }: PageProps) {
  const { q = "", offset = "0", root } = place.query;
  const answer = useAnswer("classes", { q, offset, root });
  return (
    <>
      <h1>Classes of proxies</h1>
      <div class="asked">
        <Search
          label="Class, node or namespace"
          value={q}
          onSearch={(text) => changeQuery(place, { q: text, offset: "" })}
        />
      </div>
      <Shown of={answer}>
        {({ classes, total, isPartial }) => (
          <>
            {isPartial ? <p>Only a part of the nodes was counted.</p> : null}
            <Table
              caption="Classes"
              rows={classes}
              keyOf={({ id }) => id}
              none="No class or node name contains this text."
              columns={[
                {
                  title: "Class",
                  cell: ({ id }) => (
                    <a class="mono" href={placeText(["class", id], { root })}>
                      {id}
                    </a>
                  ),
                },
                { title: "Nodes", isNumber: true, cell: ({ nodes }) => number(nodes) },
                { title: "Nodes", cell: (one) => <Who one={one} /> },
                ...(["clusters", "listeners", "routes", "endpoints"] as const).map((type) => ({
                  title: type.replace(/^./, (letter) => letter.toUpperCase()),
                  isNumber: true,
                  cell: ({ id, counts }: Classes["classes"][number]) => (
                    <a href={placeText(["resources"], { class: id, type, shape: "stream", root })}>
                      {number(counts[type] ?? 0)}
                    </a>
                  ),
                })),
              ]}
            />
            <Pager
              offset={Number(offset)}
              shown={classes.length}
              total={total}
              onMove={(to) => changeQuery(place, { offset: String(to) })}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Who({ one: { first, nodes, defaultOf } }: { readonly one: Classes["classes"][number] }) {
  const names = first.slice(0, 3);
  const more = nodes > names.length ? ` and ${number(nodes - names.length)} more` : "";
  const unknown = defaultOf.map((key) => key.replace("/", " of ")).join(", ");
  return (
    <>
      {names.join(", ")}
      {more}
      {unknown === "" ? null : (
        <span class="quiet">
          {" "}
          {names.length > 0 ? "· " : ""}any other {unknown}
        </span>
      )}
    </>
  );
}
