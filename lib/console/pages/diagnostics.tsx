import type { Diagnostics } from "../../front/api/schema/answers.ts";
import type { PageProps } from "../page-props.ts";
import { Pager } from "../parts/pager.tsx";
import { Choice, Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import { Badge } from "../parts/texts.tsx";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

const tones = { error: "bad", warning: "warn", info: "note" } as const;

/** What the compiler said of objects, with the place and what to do. */
export function DiagnosticsPage({ place }: PageProps) {
  const { q = "", severity = "", offset = "0" } = place.query;
  const answer = useAnswer("diagnostics", { q, severity, offset }, 10_000);
  return (
    <>
      <h1>Diagnostics</h1>
      <div class="asked">
        <Search
          label="Message, object or file"
          value={q}
          onSearch={(text) => changeQuery(place, { q: text, offset: "" })}
        />
        <Choice
          label="Severity"
          value={severity}
          of={[
            ["", "All"],
            ["error", "Errors"],
            ["warning", "Warnings"],
            ["info", "Notes"],
          ]}
          onChoose={(value) => changeQuery(place, { severity: value, offset: "" })}
        />
      </div>
      <Shown of={answer}>
        {({ diagnostics, total }) => (
          <>
            {total === 0 ? <p class="quiet">No messages.</p> : null}
            <ul class="said">
              {diagnostics.map((one, i) => (
                <li key={`${i} ${one.code} ${one.object}`} class="card">
                  <One one={one} />
                </li>
              ))}
            </ul>
            <Pager
              offset={Number(offset)}
              shown={diagnostics.length}
              total={total}
              onMove={(to) => changeQuery(place, { offset: String(to) })}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function One({ one }: { readonly one: Diagnostics["diagnostics"][number] }) {
  const { code, severity, object, file, line, path, message, hint } = one;
  return (
    <>
      <p>
        <Badge tone={tones[severity]}>{severity}</Badge> {message}
      </p>
      <p class="quiet">
        <code>{code}</code> {object === "" ? null : <code>{object}</code>}{" "}
        {file === "" ? null : <code>{line > 0 ? `${file}:${line}` : file}</code>}{" "}
        {path === "" ? null : <code>{path}</code>}
      </p>
      {hint === "" ? null : <p>→ {hint}</p>}
    </>
  );
}
