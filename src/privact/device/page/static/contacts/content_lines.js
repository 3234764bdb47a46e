// Content lines of vCards: the lines of a card -> the properties that were asked for, decoded. As privact.device.contacts.content_lines.
//
// Every step takes time in proportion to the text, and what is odd about one property leaves the others of its card readable.

const QUOTED = "quoted-printable";
const NAME = /^(?:[a-z0-9_-]+\.)?([a-z0-9_-]+)$/i;
const UTF_8 = new Set(["", "utf-8", "utf8", "us-ascii", "ascii"]);
const LATIN = new Set(["iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252"]);
const UNPREFERRED = 101; // after PREF=100, the last that version 4.0 knows

// The lines of a file, whatever ends them.
export const splitLines = (text) => text.split(/\r\n|\r|\n/);

// A text without the blanks around it: a pattern would take the square of their number.
export function stripBlanks(text) {
  let [begin, end] = [0, text.length];
  while (begin < end && isBlank(text[begin])) begin += 1;
  while (end > begin && isBlank(text[end - 1])) end -= 1;
  return text.slice(begin, end);
}

const isBlank = (letter) => letter === " " || letter === "\t";

// The properties with this name: value (empty where its encoding or charset is not known) and rank (the lowest is preferred).
export function* readProperties(lines, wanted) {
  for (const line of unfold(lines)) {
    const parts = split(line);
    const name = NAME.exec(parts[0] ?? "")?.[1].toLowerCase().replaceAll("_", "-"); // Lotus Notes writes underscores
    if (name === wanted) yield decode(parts.slice(1, -1), parts.at(-1));
  }
}

// Whole lines: one that begins with a blank continues the one before, and so does what follows a quoted-printable = at its end.
function* unfold(lines) {
  let [parts, quoted] = [[], false];
  for (const line of lines) {
    if (!stripBlanks(line)) {
      yield parts.join("");
      [parts, quoted] = [[], false];
    } else if (parts.length && quoted && parts.at(-1).endsWith("=")) {
      parts.push(parts.pop().slice(0, -1), line);
    } else if (parts.length && isBlank(line[0])) {
      parts.push(line.slice(1));
    } else {
      yield parts.join("");
      [parts, quoted] = [[line], line.split(":", 1)[0].toLowerCase().includes(QUOTED)];
    }
  }
  yield parts.join("");
}

// Name, parameters and value of a line; nothing where no colon ends the parameters. In quotes neither ; nor : separates.
function split(line) {
  const parts = [];
  let [begin, quoted] = [0, false];
  for (let place = 0; place < line.length; place++) {
    const letter = line[place];
    if (letter === '"') quoted = !quoted;
    else if ((letter === ";" || letter === ":") && !quoted) {
      parts.push(line.slice(begin, place));
      begin = place + 1;
      if (letter === ":") return [...parts, line.slice(begin)];
    }
  }
  return [];
}

function decode(parameters, value) {
  let [preferred, rank, quoted, unread, charset] = [false, null, false, false, ""];
  for (const parameter of parameters) {
    const at = parameter.indexOf("=");
    const kind = parameter.slice(0, Math.max(at, 0)).toLowerCase();
    const values = parameter.slice(at + 1).replaceAll('"', "").toLowerCase().split(",");
    if (kind === "" || kind === "type" || kind === "pref") preferred ||= kind === "pref" || values.includes("pref");
    if (kind === "pref" && rank === null && /^[0-9]{1,9}$/.test(values[0])) rank = Number(values[0]);
    if (kind === "" || kind === "encoding") {
      quoted ||= values.includes(QUOTED);
      unread ||= values.includes("b") || values.includes("base64");
    }
    if (kind === "charset") charset ||= values[0];
  }
  const text = unread ? "" : quoted ? decodeQuoted(value, charset) : value;
  return { value: text, rank: rank ?? (preferred ? 0 : UNPREFERRED) };
}

// Quoted-printable text, or nothing where its charset is not known or its bytes are not of it.
function decodeQuoted(text, charset) {
  const bytes = unescapeBytes(text, 0x3d);
  if (LATIN.has(charset) && !bytes.some((byte) => byte >= 0x80 && byte < 0xa0)) return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  if (!UTF_8.has(charset)) return "";
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

// The bytes of a text in UTF-8 in which a sign and two hexadecimal digits stand for a byte. sign: its code.
export function unescapeBytes(text, sign) {
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let place = 0; place < bytes.length; place++) {
    const value = bytes[place] === sign ? hexOf(bytes[place + 1], bytes[place + 2]) : -1;
    bytes[length++] = value < 0 ? bytes[place] : value;
    if (value >= 0) place += 2;
  }
  return bytes.slice(0, length);
}

function hexOf(high, low) {
  const [one, other] = [digitOf(high), digitOf(low)];
  return one < 0 || other < 0 ? -1 : 16 * one + other;
}

const digitOf = (code) => (code === undefined ? -1 : "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()));
