/** Cases that were recorded as trials, with their names there. */
export const trialCases: Readonly<Record<string, string>> = {
  "ef-value-durations-of-routes": "ef-dur-route",
  "ef-value-log-formats": "21-var-name-mended",
  "ef-value-metadata": "ef-map-nonstring",
  "ef-value-milliseconds": "ef-dur-ms",
  "ef-value-minutes": "ef-dur-min",
  "ef-value-oneof": "ef-oneof-two",
  "ef-value-two-spellings": "ef-camel-and-snake",
  "ef-value-unknown-field": "ef-unknown-field",
};
