import { PortolanError } from "../../base/diagnostic.ts";
import type { ResourceType, ShapeName } from "../../snapshot/resource-type.ts";

/** What came instead of an answer. */
interface NoAnswer {
  readonly kind: "problem";
}

type Reply<T, Problem extends NoAnswer> = { readonly kind: "answer"; readonly value: T } | Problem;

/** What is read of `/api/resources`. */
interface ResourcesPage {
  readonly root: string;
  readonly class: string;
  readonly resources: readonly {
    readonly name: string;
    readonly version: string;
    readonly from: readonly string[];
    readonly text?: string | undefined;
  }[];
  readonly next?: string | undefined;
}

/** What is read of `/api/resource`. */
interface ResourcePart {
  readonly text: string;
  readonly next?: number | undefined;
}

type Query = Readonly<Record<string, string>>;

/** Asks a front's API; what it does where the front refuses is its own affair. */
export interface AskResources<Problem extends NoAnswer> {
  readonly page: (query: Query) => Promise<Reply<ResourcesPage, Problem>>;
  readonly part: (query: Query) => Promise<Reply<ResourcePart, Problem>>;
}

/** Whose resources. */
export interface ServedTo {
  /** `pod.namespace`, an address, a node id, or the id of a class. */
  readonly node: string;
  readonly shape: ShapeName;
  /** @default what the front serves this node */
  readonly root?: string | undefined;
}

/** One of them, whole, and what it is of. */
export interface ServedResource<Type extends ResourceType = ResourceType> {
  readonly root: string;
  readonly classId: string;
  readonly type: Type;
  readonly name: string;
  readonly version: string;
  readonly from: readonly string[];
  /** Its JSON. */
  readonly text: string;
}

/** Resources on a page of the API. */
const pageLength = "200";

/**
 * Everything that a front serves a node, resource by resource, as its API tells it: all of one version, the one that the first page is of.
 * After a problem, which is the last, nothing is asked any more.
 *
 * @param types of them, in this order
 * @throws PortolanError for pages that lead nowhere, as no front's do
 */
export async function* servedResources<Type extends ResourceType, Problem extends NoAnswer>(
  ask: AskResources<Problem>,
  { node, shape, root: wanted = "" }: ServedTo,
  types: readonly Type[],
): AsyncGenerator<Reply<ServedResource<Type>, Problem>> {
  let root = wanted;
  for (const type of types) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const whose = { node, shape, type };
      const answered: Reply<ResourcesPage, Problem> = await ask.page({
        ...whose,
        ...(root === "" ? {} : { root }),
        after,
        texts: "true",
        limit: pageLength,
      });
      if (answered.kind === "problem") return yield answered;
      const page: ResourcesPage = answered.value;
      root = page.root;
      for (const { name, version, from, text } of page.resources) {
        const whole = text === undefined ? await wholeOf(ask, { ...whose, root, name }) : answer(text);
        if (whole.kind === "problem") return yield whole;
        yield answer({ root, classId: page.class, type, name, version, from, text: whole.value });
      }
      if (page.next !== undefined && page.next <= after) throw leadsNowhere(`${type} after ${page.next}`);
      after = page.next;
    }
  }
}

/** A text that is too long for a page, part by part. */
async function wholeOf<Problem extends NoAnswer>(
  ask: AskResources<Problem>,
  query: Query,
): Promise<Reply<string, Problem>> {
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const answered: Reply<ResourcePart, Problem> = await ask.part({ ...query, offset: String(offset) });
    if (answered.kind === "problem") return answered;
    const part: ResourcePart = answered.value;
    text += part.text;
    if (part.next !== undefined && part.next <= offset) throw leadsNowhere(`byte ${part.next} of ${query.name}`);
    offset = part.next;
  }
  return answer(text);
}

const answer = <T>(value: T) => ({ kind: "answer", value }) as const;

const leadsNowhere = (where: string): PortolanError =>
  new PortolanError(`the next page is where this one began, ${where}: what answers is no front of this version`);
