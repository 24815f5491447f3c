import type { Config } from "../../lib/config/config.ts";
import type { LoadedDirectory } from "../../lib/config/folder/directory.ts";

/** The same objects with one of them edited, another way in each round. */
export type Edit = (loaded: LoadedDirectory, round: number) => LoadedDirectory;

/** Another timeout in one VirtualService. */
export const editVirtualService: Edit = (loaded, round) => {
  const at = loaded.configs.findIndex(({ meta }) => meta.kind === "VirtualService");
  const edited = (config: Config): Config => ({ ...config, spec: JSON.parse(changedTimeout(config.spec, round)) });
  return { ...loaded, configs: loaded.configs.map((config, place) => (place === at ? edited(config) : config)) };
};

const changedTimeout = (spec: unknown, round: number): string =>
  JSON.stringify(spec).replace(/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`);

/** One endpoint less, or one more again. */
export const editEndpoint: Edit = (loaded, round) => {
  const at = loaded.objects.findIndex(({ kind }) => kind === "EndpointSlice");
  return {
    ...loaded,
    objects: loaded.objects.map((object, place) => {
      if (place !== at || !Array.isArray(object.endpoints)) return object;
      const [first, ...others] = object.endpoints;
      return { ...object, endpoints: [{ ...first, conditions: { ready: round % 2 === 0 } }, ...others] };
    }),
  };
};
