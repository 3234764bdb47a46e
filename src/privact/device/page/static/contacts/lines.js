// Lines and rows of text, split as the Python device splits them.

import { InputError } from "../core/errors.js";

const BREAK = /\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]/;

// Lines as Python's str.splitlines gives them.
export function splitLines(text) {
  const lines = text.split(BREAK);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

// The cells of each row of a CSV file, after the number of the row's last line. A quoted cell may go over several lines.
export function* readRows(text) {
  const lines = splitLines(text);
  const head = lines.find((line) => line.trim()) ?? "";
  const count = (separator) => head.split(separator).length;
  const separator = [",", ";", "\t"].reduce((best, each) => (count(each) > count(best) ? each : best));
  for (let index = 0; index < lines.length; index++) {
    const cells = [];
    let [cell, quoted, fresh] = ["", false, true];
    for (let line = lines[index], place = 0; ; place++) {
      const letter = line[place];
      if (letter === undefined) {
        if (!quoted || index + 1 === lines.length) break;
        [line, place] = [lines[++index], -1];
      } else if (quoted && letter === '"') {
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
    }
    if (cell.length > 131072) throw new InputError(`line ${index + 1} is not a row of a CSV file: export it again`);
    cells.push(cell.trim());
    yield [index + 1, lines[index] === "" && cells.length === 1 ? [] : cells];
  }
}
