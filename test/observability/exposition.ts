/** One metric as a page for Prometheus declares it. */
export interface Exposed {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** Of its samples; histograms have theirs with suffixes. */
  readonly samples: ReadonlySet<string>;
  /** Names of its samples' labels. */
  readonly labels: ReadonlySet<string>;
}

/** Reads Prometheus' text format. @throws for a line that is none of it */
export function readExposition(text: string): readonly Exposed[] {
  const found = new Map<
    string,
    { name: string; help: string; type: string; samples: Set<string>; labels: Set<string> }
  >();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword !== undefined) {
      const one = found.get(name) ?? { name, help: "", type: "", samples: new Set(), labels: new Set() };
      found.set(name, one);
      if (keyword === "HELP") one.help = rest;
      else one.type = rest;
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{[^}]*\})? \S+$/.exec(line)?.[1];
    if (sample === undefined) throw new Error(`no line of an exposition: ${line}`);
    const owner = found.get(sample) ?? found.get(sample.replace(/_(bucket|sum|count)$/, ""));
    if (owner === undefined) throw new Error(`${sample} is not declared`);
    owner.samples.add(sample);
    for (const [, label = ""] of line.matchAll(/[{,]([a-zA-Z_]\w*)="/g)) owner.labels.add(label);
  }
  return [...found.values()];
}
