// Makes a release's section of CHANGELOG.md out of changes/unreleased: `npm run changelog -- VERSION DATE`.
// The notes move to changes/VERSION, and the section is made from there, so the same command again writes the same bytes, and a note
// that comes late joins its release. `--dry-run` prints the section and touches nothing; `--root FOLDER` takes another tree.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const usage = "npm run changelog -- VERSION DATE [--dry-run] [--root FOLDER]   # for example: 0.2.0 2026-12-01";

const beginning = `# Changelog

What changed for users, newest release first.
`;

/** What whoever releases can mend; told in one line and without a stack. */
class Refusal extends Error {}

/**
 * @param {string} name of a note's file, `<issue>-<slug>.md` or `<slug>.md`
 * @returns {number} Infinity for a note without an issue, which is about the whole release and comes first
 */
const issueOf = (name) => Number(/^(\d+)-/.exec(name)?.[1] ?? Infinity);

/**
 * Newest issue first; within an issue by name.
 * @param {string} a
 * @param {string} b
 */
const byIssue = (a, b) => {
  const [left, right] = [issueOf(a), issueOf(b)];
  if (left !== right) return left > right ? -1 : 1;
  return a < b ? -1 : 1;
};

/**
 * A note as it stands in the changelog: its headings below those of release and issue, its links as from the root. A heading is
 * `# Heading`, several in one note if need be, or as the note's first words `**Heading.**`.
 * @param {string} path as a refusal names it
 * @param {string} text
 * @returns {string}
 */
function entryOf(path, text) {
  const withHeading = text.trimStart().replace(/^\*\*(.+?)\.?\*\*\s*/, "# $1\n\n");
  if (!/^# \S/.test(withHeading)) {
    throw new Refusal(`${path}: no heading; begin it with \`# What changed\`, or with \`**What changed.**\``);
  }
  let inFence = false;
  const lines = withHeading.split("\n").map((line) => {
    if (/^\s*```/.test(line)) inFence = !inFence;
    return inFence ? line : line.replace(/^#{1,3} /, "###$&").replaceAll("](../../", "](");
  });
  return lines.join("\n").trim();
}

/**
 * @param {string} version
 * @param {string} date
 * @param {ReadonlyMap<string, string>} notes file name → entry
 * @returns {string}
 */
function sectionOf(version, date, notes) {
  const parts = [`## ${version} (${date})`];
  let group;
  for (const name of [...notes.keys()].sort(byIssue)) {
    const issue = issueOf(name);
    if (issue !== group && issue < Infinity) parts.push(`### Issue ${issue}`);
    group = issue;
    parts.push(notes.get(name));
  }
  return `${parts.join("\n\n")}\n`;
}

/**
 * @param {string} changelog
 * @param {string} version
 * @param {string} section takes the place of the one that the version has, or comes first
 */
function withSection(changelog, version, section) {
  const [head, ...sections] = changelog.split(/^(?=## \S+ \(\d{4}-\d\d-\d\d\)$)/m).map((part) => part.trimEnd());
  const isOurs = (text) => text.startsWith(`## ${version} (`);
  const all = sections.some(isOurs)
    ? sections.map((text) => (isOurs(text) ? section.trimEnd() : text))
    : [section.trimEnd(), ...sections];
  return `${[head, ...all].join("\n\n")}\n`;
}

const notesIn = (folder) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : []);

function isDate(text) {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(`${text}T`);
}

function asked() {
  try {
    const options = { "dry-run": { type: "boolean" }, root: { type: "string" } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [version = "", date = "", ...more] = positionals;
    if (version === "" || more.length > 0) throw new Refusal(usage);
    if (!isDate(date)) throw new Refusal(`"${date}" is no date such as 2026-12-01\n${usage}`);
    return {
      version,
      date,
      isDry: values["dry-run"] === true,
      root: resolve(values.root ?? `${import.meta.dirname}/..`),
    };
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal(`${cause.message}\n${usage}`);
  }
}

function release() {
  const { version, date, isDry, root } = asked();
  const stated = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
  if (version !== stated) {
    throw new Refusal(
      `package.json says ${stated}, not ${version}; it is where the version stands: \`npm version ${version} --no-git-tag-version\` first`,
    );
  }
  const places = ["unreleased", version].map((name) => join("changes", name));
  const [fresh, kept] = places.map((place) => notesIn(join(root, place)));
  const twice = fresh.find((name) => kept.includes(name));
  if (twice !== undefined) {
    throw new Refusal(`${join(places[0], twice)}: ${places[1]} has a note of that name; give this one another`);
  }
  if (fresh.length + kept.length === 0) throw new Refusal(`${places[0]} has no notes: there is nothing to release`);
  // All are read before one is moved.
  const notes = new Map();
  for (const [at, names] of [fresh, kept].entries()) {
    for (const name of names) {
      const path = join(places[at], name);
      notes.set(name, entryOf(path, readFileSync(join(root, path), "utf8")));
    }
  }
  const section = sectionOf(version, date, notes);
  if (isDry) {
    // Whoever pipes it into `head` has read enough.
    process.stdout.on("error", () => {});
    process.stdout.write(section);
    return;
  }
  mkdirSync(join(root, places[1]), { recursive: true });
  for (const name of fresh) renameSync(join(root, places[0], name), join(root, places[1], name));
  const file = join(root, "CHANGELOG.md");
  writeFileSync(file, withSection(existsSync(file) ? readFileSync(file, "utf8") : beginning, version, section));
  console.log(
    `CHANGELOG.md has ${version} with ${notes.size} notes, ${fresh.length} of them new; they lie in ${places[1]}`,
  );
}

try {
  release();
} catch (cause) {
  if (!(cause instanceof Refusal)) throw cause;
  console.error(cause.message);
  process.exitCode = 1;
}
