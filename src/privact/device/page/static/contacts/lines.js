// Lines and rows of text, split as the Python device splits them.

const LONGEST_CELL = 131072; // as Python's csv module
const BREAK = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/;

// Lines as Python's str.splitlines gives them.
export function splitLines(text) {
  const lines = text.split(BREAK);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

// The cells of each row of a CSV file. Lines are read one at a time: a stray quote must not swallow the rows after it.
export function* readRows(text) {
  const lines = splitLines(text);
  const head = lines.find((line) => line.trim()) ?? "";
  const count = (separator) => head.split(separator).length;
  const separator = [",", ";", "\t"].reduce((best, each) => (count(each) > count(best) ? each : best));
  for (const line of lines) {
    const cells = [];
    let [cell, quoted, fresh, longest] = ["", false, true, 0];
    for (let place = 0; place < line.length; place++) {
      const letter = line[place];
      if (quoted && letter === '"') {
        if (line[place + 1] === '"') cell += line[place++];
        else quoted = false;
      } else if (quoted) {
        cell += letter;
      } else if (letter === separator) {
        cells.push(cell.trim());
        [cell, fresh] = ["", true];
      } else if (fresh && letter === '"') {
        [quoted, fresh] = [true, false];
      } else if (!(fresh && letter === " ")) {
        [cell, fresh] = [cell + letter, false];
      }
      longest = Math.max(longest, cell.length);
    }
    cells.push(cell.trim());
    if (longest > LONGEST_CELL) yield ["not a row"];
    else yield line === "" ? [] : cells;
  }
}
