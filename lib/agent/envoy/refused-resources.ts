import type { CoreType } from "../../snapshot/resource-type.ts";
import type { EnvoyFiles } from "../files/envoy-files.ts";

/** A resource that an Envoy does not take, in that version of it. */
export interface RefusedResource {
  readonly type: CoreType;
  readonly name: string;
  /** What is refused; another text of the same name is tried again. */
  readonly text: string;
  /** Envoy's own. */
  readonly words: string;
}

/** What is refused now. */
export interface RefusedResources {
  has(type: CoreType, name: string, text: string): boolean;
  add(refused: RefusedResource): void;
  /** Forgets what is not wanted any more, or is another by now. */
  reduceTo(files: EnvoyFiles): void;
  /** Sorted as they were found. */
  all(): readonly RefusedResource[];
}

export function createRefusedResources(): RefusedResources {
  let refused: readonly RefusedResource[] = [];
  return {
    has: (type, name, text) => refused.some((one) => one.type === type && one.name === name && one.text === text),
    add(one) {
      refused = [...refused, one];
    },
    reduceTo(files) {
      if (refused.length === 0) return;
      const texts = new Map([
        ...[...files.cds].map(([name, { text }]) => [`clusters ${name}`, text] as const),
        ...[...files.lds].map(([name, { text }]) => [`listeners ${name}`, text] as const),
        ...[...files.leaves.values()].map(({ type, name, file }) => [`${type} ${name}`, file.text] as const),
      ]);
      refused = refused.filter(({ type, name, text }) => texts.get(`${type} ${name}`) === text);
    },
    all: () => refused,
  };
}
