// Draws a Plotly figure and keeps it mounted: each change goes through Plotly.react, so that nothing
// blinks and zoom and legend stay. With data.pick, a click or a drag on the plot sends x to Python.
const loading = {};

function load(file) {
  const address = new URL(`./app/static/${file}`, document.baseURI).href;
  loading[file] ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => done(window.Plotly);
    script.onerror = () => failed(new Error(`Cannot load ${address}`));
    document.head.append(script);
  });
  return loading[file];
}

// The colours of the page's theme, wherever the figure does not choose its own.
function template(element) {
  const look = getComputedStyle(element);
  const value = (name) => look.getPropertyValue(name).trim();
  const lines = value("--st-border-color-light") || "rgba(136,136,136,0.3)";
  const axis = { gridcolor: lines, linecolor: lines, zerolinecolor: lines };
  return {
    layout: {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: value("--st-text-color"), family: value("--st-font"), size: 13 },
      hoverlabel: { bgcolor: value("--st-secondary-background-color") },
      xaxis: axis,
      yaxis: axis,
    },
  };
}

// Where the pointer is on the x axis; null outside the plot.
function xAt(plot, event) {
  const { xaxis, _size: size } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  const [right, down] = [event.clientX - box.left - size.l, event.clientY - box.top - size.t];
  const inside = right >= 0 && right <= size.w && down >= 0 && down <= size.h;
  return inside ? xaxis.p2d(right) : null;
}

function letPick(plot, send) {
  const show = (x) => {
    const line = (plot.layout.shapes ?? []).findIndex((shape) => shape.name === "now");
    const at = `shapes[${line}]`;
    if (line >= 0) window.Plotly.relayout(plot, { [`${at}.x0`]: x, [`${at}.x1`]: x });
  };
  plot.style.touchAction = "pan-y";
  plot.onpointerdown = (down) => {
    let x = xAt(plot, down);
    if (x === null || down.button !== 0) return;
    const move = (event) => {
      const at = xAt(plot, event);
      if (at !== null) show((x = at));
    };
    const done = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", done);
      removeEventListener("pointercancel", done);
      if (event.type === "pointerup") send(x);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", done);
    addEventListener("pointercancel", done);
  };
}

// Draw what is new: where only data.shapes changed, the traces stay as they are.
async function draw(Plotly, plot, data, template) {
  const same = plot.csmdFigure === data.figure + JSON.stringify(template);
  plot.csmdFigure = data.figure + JSON.stringify(template);
  if (!same) plot.csmdParsed = JSON.parse(data.figure);
  const figure = plot.csmdParsed;
  const shapes = [...(figure.layout.shapes ?? []), ...data.shapes];
  if (same) return data.shapes.length ? Plotly.relayout(plot, { shapes }) : null;
  plot.style.height = `${figure.layout.height}px`;
  const layout = { uirevision: "kept", ...figure.layout, shapes, template };
  if (data.pick) layout.dragmode = false;
  return Plotly.react(plot, figure.data, layout, { displaylogo: false });
}

export default async function ({ data, parentElement, setTriggerValue }) {
  let plot = parentElement.querySelector(".csmd-chart");
  if (!plot) {
    plot = document.createElement("div");
    plot.className = "csmd-chart";
    plot.setAttribute("role", "img");
    plot.style.height = `${JSON.parse(data.figure).layout.height}px`;
    parentElement.append(plot);
    const shown = () => plot.data && plot.offsetWidth > 0; // not in a closed tab
    new ResizeObserver(() => shown() && window.Plotly.Plots.resize(plot)).observe(plot);
  }
  plot.setAttribute("aria-label", data.alt);
  const Plotly = await load(data.plotly);
  await draw(Plotly, plot, data, template(parentElement));
  plot.dataset.drawn = String(Number(plot.dataset.drawn ?? 0) + 1);
  if (data.pick) letPick(plot, (x) => setTriggerValue("x", x));
}
