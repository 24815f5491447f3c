import xterm from "@xterm/headless";

const [columns, lineHeight, letterWidth, margin, barHeight] = [98, 19, 8.43, 18, 34];

/** On a dark ground of its own, so that it reads the same on light and dark pages. */
const colours = ["#6e7681", "#ff9aa6", "#6fd39b", "#f2c063", "#7cbcff", "#d2a8ff", "#76e3ea", "#e6ebf2"];

/**
 * A recording as a terminal would show it at its end, as a picture whose letters are text.
 *
 * @param {string} title
 * @param {readonly (readonly [number, string])[]} frames
 * @returns {Promise<string>} SVG
 */
export async function terminalSvg(title, frames) {
  const terminal = new xterm.Terminal({ cols: columns, rows: 200, allowProposedApi: true });
  for (const [, text] of frames) await new Promise((resolve) => terminal.write(text, () => resolve(undefined)));
  const { active } = terminal.buffer;
  const height = active.baseY + active.cursorY;
  const lines = Array.from({ length: height }, (_, y) => lineOf(active.getLine(y)));
  const [width, pixels] = [Math.ceil(columns * letterWidth + 2 * margin), height * lineHeight + barHeight + 2 * margin];
  const texts = lines.flatMap((runs, y) =>
    runs.map(({ x, text, style }) => {
      const place = `x="${(margin + x * letterWidth).toFixed(1)}" y="${barHeight + margin + y * lineHeight + 10}"`;
      const length = `textLength="${(text.length * letterWidth).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
      return `<text ${place} ${length}${style}>${escaped(text)}</text>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${pixels}" viewBox="0 0 ${width} ${pixels}" role="img" aria-label="${escaped(title)}">
<rect width="${width}" height="${pixels}" rx="9" fill="#161d27" stroke="#2b3646"/>
${["#ff6b6b", "#f2c063", "#6fd39b"].map((fill, i) => `<circle cx="${22 + i * 20}" cy="18" r="6" fill="${fill}"/>`).join("")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6ebf2" xml:space="preserve">
${texts.join("\n")}
</g>
</svg>
`;
}

/** @param {import("@xterm/headless").IBufferLine | undefined} line */
function lineOf(line) {
  /** @type {{x: number, text: string, style: string}[]} */
  const runs = [];
  for (let x = 0; line !== undefined && x < line.length; x += 1) {
    const cell = line.getCell(x);
    const text = cell?.getChars() || " ";
    const colour = cell?.isFgPalette()
      ? ` fill="${colours[cell.getFgColor() % 8]}"`
      : cell?.isDim()
        ? ' fill="#9db0c8"'
        : "";
    const style = `${colour}${cell?.isBold() ? ' font-weight="700"' : ""}`;
    const last = runs.at(-1);
    if (last?.style === style) last.text += text;
    else runs.push({ x, text, style });
  }
  return runs.flatMap((run) => {
    const text = run.text.trimEnd();
    const indent = text.length - text.trimStart().length;
    return text.trim() === "" ? [] : [{ ...run, x: run.x + indent, text: text.trim() }];
  });
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
