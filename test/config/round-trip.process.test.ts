import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { dump, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { keyText } from "../../lib/base/diagnostic.ts";
import type { Config } from "../../lib/config/config.ts";
import { keyOf } from "../../lib/config/config.ts";
import { splitDocuments } from "../../lib/config/documents/split-documents.ts";
import { fromStoredText, storedText, toObject } from "../../lib/config/object-json.ts";
import { createLedgerStore } from "../../lib/config-store/ledger-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { casesOf } from "../conformance/suites.ts";
import { propertyRuns } from "../soak-options.ts";
import { configsOf } from "./a-config.ts";

const texts = casesOf("v3").map(({ path }) => readFileSync(join(path, "input.yaml"), "utf8"));
const corpus = texts.flatMap(configsOf);

/** What a store or a printer must keep; the place of the text is not part of it. */
const content = ({ meta, spec, status }: Config) => ({ meta: { ...meta, resourceVersion: "" }, spec, status });

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
/** Texts that YAML readers like to take for something else. */
const text = fc.oneof(
  word,
  fc.constantFrom("yes", "no", "null", "1", "1.0", "0x1", "1e3", "~", "true", "- a", "a: b", "#", "", "2024-01-01"),
  fc.string(),
);
const labels = fc.dictionary(word, fc.stringMatching(/^[A-Za-z0-9]{0,8}$/), { maxKeys: 3 });

const generated = fc
  .record({
    name: word,
    namespace: word,
    labels,
    annotations: fc.dictionary(word, text, { maxKeys: 3 }),
    host: word,
    subsets: fc.uniqueArray(word, { maxLength: 3 }),
    timeoutMs: fc.integer({ min: 1, max: 10_000_000 }),
    plugin: fc.dictionary(word, fc.jsonValue(), { maxKeys: 3 }),
  })
  .map(({ name, namespace, labels: own, annotations, host, subsets, timeoutMs, plugin }) => {
    const metadata = { name, namespace, labels: own, annotations };
    const documents = [
      {
        apiVersion: "networking.istio.io/v1",
        kind: "DestinationRule",
        metadata,
        spec: { host, subsets: subsets.map((subset) => ({ name: subset, labels: own })) },
      },
      {
        apiVersion: "networking.istio.io/v1",
        kind: "VirtualService",
        metadata,
        spec: { hosts: [host], http: [{ timeout: `${timeoutMs}ms`, route: [{ destination: { host } }] }] },
      },
      {
        apiVersion: "extensions.istio.io/v1alpha1",
        kind: "WasmPlugin",
        metadata,
        spec: { url: host, pluginConfig: plugin },
      },
    ];
    return documents.map((document) => JSON.stringify(document)).join("\n---\n");
  });

describe("the two YAML parsers", () => {
  it("agree about what every document of the conformance cases means", () => {
    for (const document of texts.flatMap(splitDocuments)) {
      expect(parseDocument(document.text).toJS()).toEqual(load(document.text));
    }
  });

  it("agree about what is printed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const printed = dump(value);
        expect(parseDocument(printed).toJS()).toEqual(load(printed));
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe("an object that is accepted", () => {
  it("is the same after it was printed and parsed again", () => {
    for (const config of corpus) {
      for (const print of [(object: unknown) => dump(object, { noRefs: true }), JSON.stringify]) {
        const [again] = configsOf(print(toObject(config)));
        expect(again && content(again)).toEqual(content(config));
      }
    }
    fc.assert(
      fc.property(generated, (stream) => {
        const configs = configsOf(stream);
        expect(configs).toHaveLength(3);
        const printed = configs.map((config) => dump(toObject(config))).join("---\n");
        expect(configsOf(printed).map(content)).toEqual(configs.map(content));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it("is stored, read and listed back equal", async () => {
    const unique = [...new Map(corpus.map((config) => [keyText(keyOf(config)), config])).values()];
    const ledger = createLedgerStore(memoryStore(), { prefix: "config", author: "test", now: () => 0 });
    const changes = unique.map((config) => ({ kind: "put", config, if: "absent" }) as const);
    expect((await ledger.writeAll(changes, "all")).kind).toBe("written");
    for (const config of unique) {
      const { kind, name, namespace } = keyOf(config);
      const read = await ledger.get(kind, name, namespace);
      expect(read && content(read)).toEqual(content(config));
    }
    const kinds = [...new Set(unique.map((config) => config.meta.kind))];
    const listed = (await Promise.all(kinds.map((kind) => ledger.list(kind)))).flat();
    expect(new Set(listed.map((config) => keyText(keyOf(config))))).toEqual(
      new Set(unique.map((config) => keyText(keyOf(config)))),
    );
  });

  it("has a stored text that reads back to the same text", () => {
    fc.assert(
      fc.property(generated, (stream) => {
        for (const config of configsOf(stream)) {
          const stored = storedText(config);
          const again = fromStoredText(stored, "1", config.meta.domain, "store");
          expect(storedText(again)).toBe(stored);
          expect(content(again)).toEqual(content(config));
        }
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
