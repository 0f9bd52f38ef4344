// Remembers, in this browser only, which workspaces it has opened. Talks to nobody but the page.
const PLACE = "csmd-workspaces";
const MOST = 200;

function recall() {
  try {
    const ids = JSON.parse(localStorage.getItem(PLACE));
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  } catch {
    return []; // no storage, or not ours: then nothing is remembered
  }
}

export default function ({ data, setStateValue }) {
  const before = recall();
  const gone = new Set(data.forget);
  const ids = [...new Set([...data.remember, ...before])].filter((id) => !gone.has(id));
  const kept = ids.slice(0, MOST);
  try {
    localStorage.setItem(PLACE, JSON.stringify(kept));
  } catch {
    // storage is full or forbidden: the link alone leads back
  }
  if (data.ask) setStateValue("ids", kept);
}
