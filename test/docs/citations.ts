import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { anchorOf } from "../../site/heading-anchor.ts";

const root = resolve(import.meta.dirname, "../..");

/** Something that a file points at: a page with a heading, a source file of a release, an address. */
export interface Citation {
  /** Of the file that points, from the repository's root. */
  readonly file: string;
  readonly line: number;
  /** As written; a link of a page is completed with the page's folder. */
  readonly target: string;
}

/** A file of Istio or Envoy: project, release, path, and perhaps what in it is meant. */
const sourceForm = /^(?:istio|envoy) \d+\.\d+\.\d+ [\w./-]*[\w-](?:, [\w ]+)?$/;

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

function filesUnder(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
    .sort();
}

/** The pages of a folder of `docs/`, from the repository's root. */
export const pagesUnder = (folder: string): readonly string[] => filesUnder(folder, /\.md$/);

/** Every `@see` of the code, besides those that TypeScript itself resolves (`{@link …}`). */
export function citationsOfCode(): readonly Citation[] {
  const files = ["lib", "functions", "test", "scripts"].flatMap((folder) => filesUnder(folder, /\.(?:ts|mjs)$/));
  return files.flatMap((file) =>
    textOf(file)
      .split("\n")
      .flatMap((text, index): readonly Citation[] => {
        const target = /^\s*(?:\/\*)?\*.*@see (.+?)\s*(?:\*\/)?$/.exec(text)?.[1];
        return target === undefined ? [] : [{ file, line: index + 1, target }];
      }),
  );
}

/** Every link of a page that stays in the repository. */
export function linksOfPages(): readonly Citation[] {
  const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...pagesUnder("docs")];
  return pages.flatMap((file) =>
    textOf(file)
      .split("\n")
      .flatMap((text, index) =>
        [...text.matchAll(/\]\(([^)\s]+)\)/g)]
          .map(([, target = ""]) => target)
          .filter((target) => !/^[a-z]+:/.test(target))
          .map((target): Citation => ({ file, line: index + 1, target: completed(file, target) })),
      ),
  );
}

/** Pages that comments and pages name in passing, without a link. */
export function pagesNamedInPassing(): readonly Citation[] {
  const files = [
    ...filesUnder("lib", /\.ts$/),
    ...filesUnder("functions", /\.ts$/),
    ...pagesUnder("docs"),
    "README.md",
  ];
  return files.flatMap((file) =>
    textOf(file)
      .split("\n")
      .flatMap((text, index) =>
        [...text.matchAll(/(?<!\]\(|\/)\b(?:docs|reference|design)\/[\w./-]+\.md(?:#[\w-]+)?/g)].map(
          ([target]): Citation => ({ file, line: index + 1, target }),
        ),
      ),
  );
}

function completed(file: string, target: string): string {
  const [path = "", anchor] = target.split("#");
  const page = path === "" ? file : relative(root, resolve(root, dirname(file), path));
  return anchor === undefined ? page : `${page}#${anchor}`;
}

/** What is wrong with a citation; undefined for one that leads somewhere. */
export function complaint({ file, line, target }: Citation): string | undefined {
  const place = `${file}:${line} cites ${target}`;
  if (target.startsWith("https://")) return URL.canParse(target) ? undefined : `${place}, which is no address`;
  if (sourceForm.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  if (/\s/.test(path) || !existsSync(join(root, path)))
    return `${place}, which is neither a page, nor a source, nor an address`;
  if (anchor === undefined || headingsOf(path).has(anchor)) return undefined;
  return `${place}, and ${path} has no such heading`;
}

const headings = new Map<string, ReadonlySet<string>>();

/** Anchors of a page's headings, as GitHub and most others make them. */
function headingsOf(page: string): ReadonlySet<string> {
  const known = headings.get(page);
  if (known !== undefined) return known;
  const text = textOf(page).replace(/^```[\s\S]*?^```$/gm, "");
  const found = new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
  headings.set(page, found);
  return found;
}
