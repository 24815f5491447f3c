import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const script = join(root, "scripts/changelog.mjs");

/** A tree with these notes to release as 0.2.0: file name → text. */
function treeOf(notes: Readonly<Record<string, string>>): string {
  const tree = mkdtempSync(join(tmpdir(), "portolan-changelog-"));
  onTestFinished(() => rmSync(tree, { recursive: true }));
  mkdirSync(join(tree, "changes/unreleased"), { recursive: true });
  writeFileSync(join(tree, "package.json"), JSON.stringify({ version: "0.2.0" }));
  for (const [name, text] of Object.entries(notes)) writeNote(tree, name, text);
  return tree;
}

const writeNote = (tree: string, name: string, text: string) =>
  writeFileSync(join(tree, "changes/unreleased", name), text);

const changelogOf = (tree: string) => readFileSync(join(tree, "CHANGELOG.md"), "utf8");
const notesOf = (tree: string, version: string) => readdirSync(join(tree, "changes", version)).sort();
const headingsOf = (text: string) => text.split("\n").filter((line) => /^#+ /.test(line));

const release = (tree: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [script, ...(args.length > 0 ? args : ["0.2.0", "2026-12-01"]), "--root", tree], {
    encoding: "utf8",
  });

/** @returns what a refusal says; nothing has been moved or written then */
function refusalOf(tree: string, ...args: readonly string[]): string {
  const before = notesOf(tree, "unreleased");
  const given = args.length > 0 ? args : ["0.2.0", "2026-12-01"];
  const { status, stderr } = spawnSync(process.execPath, [script, ...given, "--root", tree], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).not.toContain("    at ");
  expect(notesOf(tree, "unreleased")).toEqual(before);
  expect(existsSync(join(tree, "CHANGELOG.md"))).toBe(false);
  return stderr.trim();
}

describe("the changelog of a release", () => {
  it("has the notes by issue, newest first, after those about the whole release", () => {
    const tree = treeOf({
      "3-first.md": "# Third\n",
      "12-b.md": "# Twelfth, b\n",
      "12-a.md": "# Twelfth, a\n",
      "clock.md": "# Of no issue\n",
    });
    release(tree);
    expect(headingsOf(changelogOf(tree))).toEqual([
      "# Changelog",
      "## 0.2.0 (2026-12-01)",
      "#### Of no issue",
      "### Issue 12",
      "#### Twelfth, a",
      "#### Twelfth, b",
      "### Issue 3",
      "#### Third",
    ]);
    expect(notesOf(tree, "unreleased")).toEqual([]);
    expect(notesOf(tree, "0.2.0")).toEqual(["12-a.md", "12-b.md", "3-first.md", "clock.md"]);
  });

  it("makes a heading of a note's first bold words, and keeps those after it as they are", () => {
    const tree = treeOf({ "1-a.md": "**It `works`.** And how.\n\n**What to do:** nothing.\n" });
    release(tree);
    expect(changelogOf(tree)).toContain("#### It `works`\n\nAnd how.\n\n**What to do:** nothing.\n");
  });

  it("takes several headings of one note, and leaves alone what is shown in a fence", () => {
    const tree = treeOf({
      "1-a.md": "# One\n\n## Part\n\n```yaml\n# a comment\n```\n\n# Two\n\nSee [x](../../docs/x.md).\n",
    });
    release(tree);
    expect(headingsOf(changelogOf(tree)).slice(2)).toEqual([
      "### Issue 1",
      "#### One",
      "##### Part",
      "# a comment",
      "#### Two",
    ]);
    expect(changelogOf(tree)).toContain("[x](docs/x.md)");
  });

  it("is the same when made again, and has a note that came late", () => {
    const tree = treeOf({ "1-a.md": "# One\n" });
    release(tree);
    const first = changelogOf(tree);
    release(tree);
    expect(changelogOf(tree)).toBe(first);
    writeNote(tree, "2-late.md", "# Late\n");
    release(tree);
    expect(headingsOf(changelogOf(tree)).slice(1)).toEqual([
      "## 0.2.0 (2026-12-01)",
      "### Issue 2",
      "#### Late",
      "### Issue 1",
      "#### One",
    ]);
  });

  it("stands above those of earlier releases, which it leaves as they are", () => {
    const tree = treeOf({ "1-a.md": "# One\n" });
    release(tree);
    const earlier = changelogOf(tree).split("\n").slice(4).join("\n");
    writeFileSync(join(tree, "package.json"), JSON.stringify({ version: "0.10.0" }));
    writeNote(tree, "2-b.md", "# Two\n");
    release(tree, "0.10.0", "2027-01-02");
    expect(headingsOf(changelogOf(tree)).slice(1, 5)).toEqual([
      "## 0.10.0 (2027-01-02)",
      "### Issue 2",
      "#### Two",
      "## 0.2.0 (2026-12-01)",
    ]);
    expect(changelogOf(tree).endsWith(earlier)).toBe(true);
    expect(earlier).toContain("#### One");
  });

  it("is not cut at what a note shows in a fence", () => {
    const tree = treeOf({ "1-a.md": "# One\n\n```md\n## 9\n\n\n## 8 text\n```\n" });
    release(tree);
    const first = changelogOf(tree);
    expect(first).toContain("```md\n## 9\n\n\n## 8 text\n```\n");
    release(tree);
    expect(changelogOf(tree)).toBe(first);
  });

  it("is only printed with --dry-run", () => {
    const tree = treeOf({ "1-a.md": "# One\n" });
    expect(release(tree, "0.2.0", "2026-12-01", "--dry-run")).toBe(
      "## 0.2.0 (2026-12-01)\n\n### Issue 1\n\n#### One\n",
    );
    expect(notesOf(tree, "unreleased")).toEqual(["1-a.md"]);
    expect(existsSync(join(tree, "CHANGELOG.md"))).toBe(false);
  });

  it("is not made of a note without a heading, whose file the refusal names", () => {
    const tree = treeOf({ "1-a.md": "# One\n", "2-b.md": "Something changed.\n" });
    expect(refusalOf(tree)).toBe(
      "changes/unreleased/2-b.md: no heading; begin it with `# What changed`, or with `**What changed.**`",
    );
  });

  it("is not made of nothing, nor for a version, a date or an option that cannot be meant", () => {
    const tree = treeOf({ "1-a.md": "# One\n" });
    expect(refusalOf(tree, "0.3.0", "2026-12-01")).toMatch(
      /^package\.json says 0\.2\.0, not 0\.3\.0; .*`npm version 0\.3\.0/,
    );
    expect(refusalOf(tree, "0.2.0", "2026-02-30")).toMatch(/^"2026-02-30" is no date such as 2026-12-01\n/);
    expect(refusalOf(tree, "0.2.0")).toContain("is no date");
    expect(refusalOf(tree, "0.2.0", "2026-12-01", "--dryrun")).toContain("--dryrun");
    expect(refusalOf(treeOf({}))).toBe("changes/unreleased has no notes: there is nothing to release");
  });

  it("does not write one note over another of its name that was released", () => {
    const tree = treeOf({ "1-a.md": "# One\n" });
    mkdirSync(join(tree, "changes/0.2.0"));
    writeFileSync(join(tree, "changes/0.2.0/1-a.md"), "# Another\n");
    expect(refusalOf(tree)).toBe(
      "changes/unreleased/1-a.md: changes/0.2.0 has a note of that name; give this one another",
    );
  });
});

describe("our own notes", () => {
  const notes = globSync("changes/*/*.md", { cwd: root });

  it("make a changelog, each with its heading, and links that lead somewhere", () => {
    const tree = treeOf({});
    // Two releases may have a note of one name.
    for (const [at, note] of notes.entries()) {
      cpSync(join(root, note), join(tree, "changes/unreleased", `${basename(note, ".md")}-${at}.md`));
    }
    expect(release(tree)).toContain(`with ${notes.length} notes`);
    const changelog = changelogOf(tree);
    expect(notesOf(tree, "0.2.0")).toHaveLength(notes.length);
    expect(headingsOf(changelog).filter((line) => line.startsWith("#### ")).length).toBeGreaterThanOrEqual(
      notes.length,
    );
    const links = [...changelog.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = ""]) => target);
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((target) => !/^https:/.test(target) && !existsSync(join(root, target)))).toEqual([]);
  });

  it("have names that say their issue, where they have one", () => {
    expect(notes).not.toEqual([]);
    expect(notes.filter((note) => !/^(?:\d+-)?[a-z][a-z0-9-]*\.md$/.test(basename(note)))).toEqual([]);
  });
});
