import { type Diagnostic, fileOrigin } from "../../base/diagnostic.ts";
import type { CompiledWorld } from "../../snapshot/compiled.ts";
import { lastRoot, type ReadHead } from "../../snapshot/head/head.ts";
import { configurationOf, type HeldWorlds, type Publishing } from "../../snapshot/publish.ts";
import type { Configuration } from "../../snapshot/root.ts";
import { storedRootIfWhole } from "../../snapshot/stored-root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { SourceNotKept } from "../shards/pinned-configuration.ts";
import type { HeldCompiled, Published } from "./recompiled.ts";

/** What is published beside the newest world. */
export interface Holding {
  readonly worlds: HeldWorlds;
  /** Blobs of them that the store has. */
  readonly prewritten: readonly ReadonlySet<string>[];
  /** Of configuration that is held, and cannot be read any more. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Publish {
  readonly base: ReadHead | undefined;
  readonly publishing: Publishing | undefined;
  readonly newest: CompiledWorld;
}

/**
 * The worlds that go with a publish where HEAD holds configuration for everybody or for a canary: the same registries, that configuration.
 * What cannot be compiled stays as it is served, and says so.
 */
export async function pinnedWorlds(
  store: ObjectStore,
  { base, publishing, newest }: Publish,
  compile: Published["withConfiguration"],
): Promise<Holding> {
  if (base === undefined) return { worlds: {}, prewritten: [], diagnostics: [] };
  const { head } = base;
  const served = publishing?.share === undefined ? undefined : await storedRootIfWhole(store, lastRoot(head.steps));
  // What a new version makes of the same configuration is to be tried on the part of the nodes alone.
  if (served !== undefined && served.compiler !== newest.compiler)
    return { worlds: { isVersionTrial: true }, prewritten: [], diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const compiled = new Map<string, HeldCompiled>([[newest.configuration ?? "", { world: newest }]]);
  const hold = async (who: string, configuration: Configuration | undefined): Promise<CompiledWorld | undefined> => {
    if (configuration === undefined) return undefined;
    try {
      const made = compiled.get(configuration.version) ?? (await compile(configuration));
      compiled.set(configuration.version, made);
      return made.world;
    } catch (cause) {
      if (!(cause instanceof SourceNotKept)) throw cause;
      diagnostics.push(notKept(who, cause.message));
      return undefined;
    }
  };
  // A canary that begins holds everybody else at what they have.
  const configuration = head.pin === undefined ? served && configurationOf(served) : head.pin.configuration;
  const world = await hold("everybody", configuration);
  const canary = await hold("the canary", head.canary?.configuration);
  const everybody = world === undefined || configuration === undefined ? undefined : { world, configuration };
  const prewritten = [...compiled.values()].flatMap((one) => one.prewritten ?? []);
  return { worlds: { everybody, canary }, prewritten, diagnostics };
}

const notKept = (who: string, reason: string): Diagnostic => ({
  code: "held-configuration-lost",
  severity: "warning",
  origin: fileOrigin("HEAD"),
  path: [],
  message: `the configuration that ${who} is held at cannot be compiled with the newest endpoints: ${reason}. What was compiled last is still served, with its endpoints`,
  hint: "end it with `portolan unpin`, `promote` or `abort`, or put the store's folder sources/ back from a copy",
});
