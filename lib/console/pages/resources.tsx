import type { Resources } from "../../front/api/schema/answers.ts";
import type { PageProps } from "../page-props.ts";
import { bytesText, number } from "../parts/numbers.ts";
import { Choice, Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Table } from "../parts/table.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

const types = ["clusters", "endpoints", "listeners", "routes", "extension_configs", "name_tables"] as const;

/** What a class has of a type, and what each was made from. */
export function ResourcesPage({ place }: PageProps) {
  const classes = useAnswer("classes", { limit: 200, root: place.query.root });
  return (
    <>
      <h1>Resources</h1>
      <Shown of={classes}>
        {({ classes: known }) => {
          const chosen = place.query.class ?? known[0]?.id ?? "";
          const ids = known.some(({ id }) => id === chosen) ? known : [{ id: chosen, first: [] }, ...known];
          return (
            <>
              <div class="asked">
                <Choice
                  label="Class"
                  value={chosen}
                  of={ids.map(({ id, first }) => [
                    id,
                    first[0] === undefined ? id : `${first[0]} (${id.slice(0, 14)}…)`,
                  ])}
                  onChoose={(id) => changeQuery(place, { class: id, after: "" })}
                />
                <Choice
                  label="Type"
                  value={place.query.type ?? "clusters"}
                  of={types.map((type) => [type, type])}
                  onChoose={(type) => changeQuery(place, { type, after: "" })}
                />
                <Choice
                  label="Transport"
                  value={place.query.shape ?? "poll"}
                  of={[
                    ["poll", "polls"],
                    ["stream", "streams"],
                  ]}
                  onChoose={(shape) => changeQuery(place, { shape, after: "" })}
                />
                <Search
                  label="Name"
                  value={place.query.q ?? ""}
                  onSearch={(q) => changeQuery(place, { q, after: "" })}
                />
                <Search
                  label="Made from"
                  value={place.query.from ?? ""}
                  onSearch={(from) => changeQuery(place, { from, after: "" })}
                />
              </div>
              <List place={place} of={chosen} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

function List({ place, of }: PageProps & { readonly of: string }) {
  const { root, type = "clusters", shape = "poll", q, from, after } = place.query;
  const answer = useAnswer("resources", { root, class: of, type, shape, q, from, after });
  return (
    <Shown of={answer}>
      {({ resources, total, next, version }) => (
        <>
          <p class="quiet">
            {number(total)} {type} in version <code>{version.slice(0, 12)}</code>
          </p>
          <Table
            caption="Resources"
            rows={resources}
            keyOf={({ name }) => name}
            none={next === undefined ? "None is found." : "None on this page; there may be more."}
            columns={[
              {
                title: "Name",
                cell: ({ name }) => (
                  <a class="mono" href={placeText(["resource"], { root, class: of, type, shape, name })}>
                    {name}
                  </a>
                ),
              },
              { title: "Made from", cell: (one) => <From of={one} /> },
              { title: "Size", isNumber: true, cell: ({ bytes }) => bytesText(bytes) },
            ]}
          />
          <nav class="pager" aria-label="Pages">
            {after === undefined ? null : (
              <button type="button" onClick={() => changeQuery(place, { after: "" })}>
                From the start
              </button>
            )}
            {next === undefined ? null : (
              <button type="button" onClick={() => changeQuery(place, { after: next })}>
                After →
              </button>
            )}
          </nav>
        </>
      )}
    </Shown>
  );
}

const shownFrom = 3;

function From({ of: { from, moreFrom } }: { readonly of: Resources["resources"][number] }) {
  const more = moreFrom + Math.max(from.length - shownFrom, 0);
  return (
    <>
      {from.slice(0, shownFrom).map((key) => (
        <code key={key} class="key">
          {key}
        </code>
      ))}
      {more > 0 ? <span class="quiet">and {number(more)} more</span> : null}
    </>
  );
}
