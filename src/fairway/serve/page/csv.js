// Tables as text: what a spreadsheet copies, and what the service reads and writes.

/** Rows of cells; separated by tabs where the first line has one, else by semicolons or commas. */
export function parse(text) {
  const head = text.split(/\r?\n/, 1)[0];
  const separator = ["\t", ";", ","].find((each) => head.includes(each)) ?? ",";
  const rows = [[]];
  let [cell, quoted] = ["", false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (sign === '"' && cell === "") quoted = true;
    else if (sign === separator || sign === "\n") {
      rows.at(-1).push(cell);
      cell = "";
      if (sign === "\n") rows.push([]);
    } else if (sign !== "\r") cell += sign;
  }
  rows.at(-1).push(cell);
  return rows.filter((row) => row.some((each) => each !== ""));
}

const cellText = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

export const render = (rows) => rows.map((row) => `${row.map(cellText).join(",")}\n`).join("");
