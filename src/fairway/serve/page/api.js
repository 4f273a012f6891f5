// The service: requests with their errors in a sentence, and the events of a job.

const TOKEN = "fairway-token";
const SILENCE = 40_000;
/** Milliseconds without a sound after which a stream is taken for cut off; the service makes one every 15 s. */

/** What the service refused, in its own sentence. */
export class Refusal extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

let askForToken = async () => null;
let asking = null;

/** Says how a person is asked for the token once the service demands one. */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

async function send(path, { method = "GET", body, signal } = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal("The service does not answer; is `fairway serve` still running?", 0);
  }
  if (response.status === 401) {
    asking ??= askForToken(Boolean(token)).finally(() => (asking = null));
    const given = await asking;
    if (given === null) throw new Refusal("This service demands a token.", 401);
    sessionStorage.setItem(TOKEN, given);
    return send(path, { method, body, signal });
  }
  if (!response.ok) throw new Refusal(await sentence(response), response.status);
  return response;
}

async function sentence(response) {
  const text = await response.text();
  try {
    const { error: said } = JSON.parse(text);
    if (typeof said === "string") return said;
  } catch {
    // not JSON: the status has to do
  }
  return `The service answered ${response.status} ${response.statusText}.`;
}

/** The JSON answer to a GET or, with a body, a POST. */
export async function call(path, body, signal) {
  const response = await send(path, body === undefined ? { signal } : { method: "POST", body, signal });
  return response.json();
}

/** The answer to a POST as a file. */
export async function download(path, body) {
  return (await send(path, { method: "POST", body })).blob();
}

export async function remove(path) {
  await send(path, { method: "DELETE" });
}

/** The server-sent events of a path, one by one; read from a plain request, which can carry the token. */
export async function* events(path) {
  const silence = new AbortController();
  let patience;
  const heard = () => {
    clearTimeout(patience);
    patience = setTimeout(() => silence.abort(), SILENCE);
  };
  try {
    heard();
    const response = await send(path, { signal: silence.signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let pending = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const blocks = (pending + value).split(/\r?\n\r?\n/);
      pending = blocks.pop();
      yield* blocks.map(parsed).filter(Boolean);
    }
  } finally {
    clearTimeout(patience);
  }
}

/** One event with its data, or nothing where a block is only a comment. */
function parsed(block) {
  const fields = block
    .split(/\r?\n/)
    .map((line) => /^(\w+): ?(.*)$/.exec(line))
    .filter(Boolean);
  const data = fields
    .filter(([, key]) => key === "data")
    .map(([, , text]) => text)
    .join("\n");
  return data && { type: fields.find(([, key]) => key === "event")?.[2] ?? "message", data: JSON.parse(data) };
}
