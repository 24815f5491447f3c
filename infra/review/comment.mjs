/** Writes the comparison as one comment on the pull request, or renews the one that is there: a step of action.yml. */
import { readFileSync } from "node:fs";

const { DIR = ".", MARKDOWN = "", PULL_REQUEST = "", GITHUB_TOKEN = "" } = process.env;
const { GITHUB_API_URL = "https://api.github.com", GITHUB_REPOSITORY = "" } = process.env;
if (!/^\d+$/.test(PULL_REQUEST)) {
  console.log("::notice::There is no pull request to comment on; the job's summary has the comparison.");
  process.exit(0);
}

/** By which the comment is known again; one for each folder. */
const marker = `<!-- portolan diff: ${encodeURIComponent(DIR)} -->`;
const body = `${marker}\n${readFileSync(MARKDOWN, "utf8")}`;
const comments = `/repos/${GITHUB_REPOSITORY}/issues/${PULL_REQUEST}/comments`;
const maxPages = 30;

const found = await findComment();
const response =
  found === undefined
    ? await ask("POST", comments, { body })
    : await ask("PATCH", `/repos/${GITHUB_REPOSITORY}/issues/comments/${found}`, { body });
if (response.status === 403) {
  // A fork's token may only read.
  console.log(
    "::warning::The token may not comment (pull-requests: write is wanted); the job's summary has the comparison.",
  );
} else if (!response.ok) {
  throw new Error(`GitHub answers ${response.status}: ${(await response.text()).slice(0, 500)}`);
}

async function findComment() {
  for (let page = 1; page <= maxPages; page += 1) {
    const listed = await ask("GET", `${comments}?per_page=100&page=${page}`);
    if (!listed.ok && listed.status !== 403) throw new Error(`GitHub answers ${listed.status} when asked for comments`);
    if (!listed.ok) return undefined;
    const list = await listed.json();
    const own = list.find((one) => one.user?.type === "Bot" && one.body?.startsWith(marker));
    if (own !== undefined) return own.id;
    if (list.length < 100) return undefined;
  }
  return undefined;
}

function ask(method, path, json) {
  return fetch(GITHUB_API_URL + path, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${GITHUB_TOKEN}`,
      "x-github-api-version": "2022-11-28",
      ...(json === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(30_000),
  });
}
