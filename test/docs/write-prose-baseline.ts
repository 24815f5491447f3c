/** Writes how often each page breaks the writing standard now. Only lower counts belong into a commit. */
import { writeFileSync } from "node:fs";
import { countsOf, findingsOf, pagesOfProse } from "./prose.ts";

const counts = pagesOfProse()
  .map((page) => [page, countsOf(findingsOf(page))] as const)
  .filter(([, { longSentences, bannedWords, longLines }]) => longSentences + bannedWords + longLines > 0);
writeFileSync(
  new URL("prose-baseline.json", import.meta.url),
  `${JSON.stringify(Object.fromEntries(counts), undefined, 2)}\n`,
);
