import type { PageProps } from "../page-props.ts";
import { PublicationTable } from "../parts/publications.tsx";
import { Shown } from "../parts/shown.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";

/** All that was published, page by page. */
export function HistoryPage({ place }: PageProps) {
  const { before } = place.query;
  const history = useAnswer("history", { before }, before === undefined ? 10_000 : 0);
  return (
    <>
      <h1>History</h1>
      <Shown of={history}>
        {({ entries, next }) => (
          <>
            <PublicationTable entries={entries} />
            <nav class="pager" aria-label="Pages">
              {before === undefined ? null : <a href="#/history">Newest</a>}
              {next === undefined ? null : <a href={placeText(["history"], { before: next })}>Older →</a>}
            </nav>
          </>
        )}
      </Shown>
    </>
  );
}
