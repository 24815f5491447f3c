import { useState } from "preact/hooks";
import type { PublicationEntry } from "../../front/api/schema/answers.ts";
import type { Diff } from "../../front/api/schema/changes.ts";
import type { PageProps } from "../page-props.ts";
import { counted } from "../parts/numbers.ts";
import { Pager } from "../parts/pager.tsx";
import { Choice, Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Badge, Time, Version } from "../parts/texts.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

const tones = { added: "good", removed: "bad", changed: "warn" } as const;

/** What differs between any two versions. */
export function DiffPage({ place }: PageProps) {
  const history = useAnswer("history", { limit: 30 }, everyMs);
  const entries = history.reply?.kind === "answer" ? history.reply.value.entries : [];
  const isFirst = place.query.before === undefined && new Set(entries.map(({ root }) => root)).size === 1;
  return (
    <>
      <h1>Compare two versions</h1>
      {history.reply === undefined ? null : isFirst ? <OnlyOne entry={entries[0]} /> : <Compared place={place} />}
    </>
  );
}

/** How often is looked whether there is a second version to compare the first with. */
const everyMs = 5_000;

function OnlyOne({ entry }: { readonly entry: PublicationEntry | undefined }) {
  return (
    <section class="card narrow" role="status">
      <h2 class="big">There is one version so far</h2>
      {entry === undefined ? null : (
        <p>
          <Version root={entry.root} isPlain /> is the first, published <Time at={entry.at} />.
        </p>
      )}
      <p>
        Change something (the weight of a route will do) and have it published: what differs for which proxies is shown
        here then, resource by resource.
      </p>
      <p class="quiet">
        Before anything is published, <code>portolan diff --dir my-mesh/ --base main</code> shows the same for a branch.
      </p>
    </section>
  );
}

function Compared({ place }: PageProps) {
  const { before = "HEAD~1", after = "SERVED", shape = "stream", q = "", offset = "0" } = place.query;
  const answer = useAnswer("diff", { before, after, shape, q, offset });
  return (
    <>
      <div class="asked">
        <VersionChoice
          label="Before"
          value={before}
          onChoose={(to) => changeQuery(place, { before: to, offset: "" })}
        />
        <VersionChoice label="After" value={after} onChoose={(to) => changeQuery(place, { after: to, offset: "" })} />
        <Choice
          label="Transport"
          value={shape}
          of={[
            ["stream", "streams"],
            ["poll", "polls"],
          ]}
          onChoose={(to) => changeQuery(place, { shape: to, offset: "" })}
        />
        <Search label="Resource or object" value={q} onSearch={(to) => changeQuery(place, { q: to, offset: "" })} />
      </div>
      <Shown of={answer}>
        {(diff) => (
          <>
            <p>
              <Version root={diff.before} isPlain /> → <Version root={diff.after} isPlain />{" "}
              <Badge tone="good">{diff.counts.added} added</Badge>
              <Badge tone="bad">{diff.counts.removed} removed</Badge>
              <Badge tone="warn">{diff.counts.changed} changed</Badge>
            </p>
            {diff.isPartial ? <p>There are more differences than shown here.</p> : null}
            <Classes diff={diff} />
            {diff.total === 0 ? <p class="quiet">No resource differs{q === "" ? "" : " with this name"}.</p> : null}
            <ul class="said">
              {diff.resources.map((one) => (
                <li key={`${one.type} ${one.name} ${one.classId} ${one.change}`} class="card">
                  <One diff={diff} one={one} />
                </li>
              ))}
            </ul>
            <Pager
              offset={Number(offset)}
              shown={diff.resources.length}
              total={diff.total}
              onMove={(to) => changeQuery(place, { offset: String(to) })}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** Some of the history, and whatever else is typed. */
function VersionChoice({
  label,
  value,
  onChoose,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
}) {
  const history = useAnswer("history", { limit: 30 });
  const entries = history.reply?.kind === "answer" ? history.reply.value.entries : [];
  const id = `versions-${label}`;
  return (
    <label>
      <span>{label}</span>
      <input
        type="text"
        class="mono"
        list={id}
        key={value}
        defaultValue={value}
        onChange={(event) => onChoose(event.currentTarget.value.trim())}
      />
      <datalist id={id}>
        {["SERVED", "NEWEST", "HEAD~1"].map((name) => (
          <option key={name} value={name} />
        ))}
        {entries.map(({ generation, root, reason }) => (
          <option key={generation} value={String(generation)} label={`${reason}, ${root.slice(0, 12)}`} />
        ))}
      </datalist>
    </label>
  );
}

function Classes({ diff: { classes } }: { readonly diff: Diff }) {
  const { added, removed, moved, more } = classes;
  if (added.length + removed.length + moved.length === 0) return null;
  return (
    <section class="card">
      <h2>Classes</h2>
      <ul class="plain">
        {moved.map(({ before, after, who, moreWho }) => (
          <li key={before + after}>
            <Badge tone="note">renamed</Badge> <code>{before}</code> → <code>{after}</code>{" "}
            <span class="quiet">
              {who.join(", ")}
              {moreWho > 0 ? ` and ${moreWho} more` : ""}
            </span>
          </li>
        ))}
        {added.map((id) => (
          <li key={id}>
            <Badge tone="good">added</Badge> <code>{id}</code>
          </li>
        ))}
        {removed.map((id) => (
          <li key={id}>
            <Badge tone="bad">removed</Badge> <code>{id}</code>
          </li>
        ))}
      </ul>
      {more > 0 ? <p class="quiet">and more</p> : null}
    </section>
  );
}

interface OneProps {
  readonly diff: Diff;
  readonly one: Diff["resources"][number];
}

function One({ diff, one }: OneProps) {
  const [isOpen, setOpen] = useState(false);
  const { type, name, change, classes, classId, earlierId, from, moreFrom } = one;
  const [root, id] = change === "removed" ? [diff.before, earlierId] : [diff.after, classId];
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Badge tone={tones[change]}>{change}</Badge>
        {type} <code>{name}</code> <span class="quiet">in {counted(classes, "class", "classes")}</span>
      </summary>
      <p class="quiet">
        From{" "}
        {from.map((key, i) => (
          <span key={key}>
            {i > 0 ? ", " : ""}
            <code>{key}</code>
          </span>
        ))}
        {from.length === 0 ? "no object" : ""}
        {moreFrom > 0 ? ` and ${moreFrom} more` : ""}.{" "}
        <a href={placeText(["resource"], { root, class: id, type, shape: diff.shape, name })}>All of it</a>
      </p>
      {isOpen && change === "changed" ? <Places diff={diff} one={one} /> : null}
    </details>
  );
}

function Places({ diff: { before, after, shape }, one: { type, name, classId, earlierId } }: OneProps) {
  const answer = useAnswer("resourceDiff", { before, after, shape, type, name, class: classId, earlier: earlierId });
  return (
    <Shown of={answer}>
      {({ places, morePlaces }) => (
        <>
          <ul class="plain places">
            {places.map((place) => (
              <li key={place.path}>
                <code>{place.path}</code>
                {place.before === "" ? null : <del>{place.before}</del>}
                {place.after === "" ? null : <ins>{place.after}</ins>}
              </li>
            ))}
          </ul>
          {morePlaces > 0 ? <p class="quiet">and {counted(morePlaces, "more place", "more places")}</p> : null}
        </>
      )}
    </Shown>
  );
}
